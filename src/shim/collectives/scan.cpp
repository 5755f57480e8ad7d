// MPI_Scan and MPI_Exscan: everybody gets the contributions of all, and folds those of lower ranks.
//
// Long ones in segments, so that nobody holds the whole contributions of all. If somebody is lost
// on the way, the segments have not the same contributors; then all of them are done again. The
// survivors see that alike, and it costs a process each time.
#include <algorithm>
#include <limits>

#include "shim/collectives/call.hpp"
#include "shim/collectives/pieces.hpp"
#include "shim/collectives/specs.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// What the contributions of all to one segment come to at most, unless one element is more.
constexpr std::size_t segment_bytes_max = std::size_t{4} << 20;

// Folds spread payloads of one layout, the lowest first.
class Fold {
 public:
  Fold(MPI_Op op, const Layout& layout) : layout_(layout), combiner_(op, layout) {}

  void add(std::span<const std::byte> payload) {
    runtime::Buffer upper(payload);
    if (sum_.data() != nullptr) combiner_.combine(sum_.view(), {upper.data(), upper.size()});
    sum_ = std::move(upper);
    is_empty_ = false;
  }

  bool is_empty() const { return is_empty_; }
  void append_to(std::vector<std::byte>& result) const {
    std::vector<std::byte> storage;
    const auto elements = repacked(sum_.view(), layout_, storage);
    result.insert(result.end(), elements.begin(), elements.end());
  }
  int code() const { return combiner_.code(); }

 private:
  Layout layout_;
  MpiCombiner combiner_;
  runtime::Buffer sum_;
  bool is_empty_ = true;
};

class Scan {
 public:
  Scan(CollectiveCall& call, const void* input, const Layout& layout, MPI_Op op, bool is_inclusive)
      : call_(call), input_(input), layout_(layout), op_(op), is_inclusive_(is_inclusive) {
    MPI_Aint lb = 0;
    PMPI_Type_get_extent(layout.datatype, &lb, &extent_);
    const std::size_t per_element = layout_of(layout.datatype, 1).spread_bytes;
    const std::size_t at_once = segment_bytes_max / static_cast<std::size_t>(call.size());
    step_ = static_cast<int>(std::clamp<std::size_t>(
        at_once / std::max<std::size_t>(per_element, 1), 1, std::numeric_limits<int>::max() / 2));
  }

  runtime::Outcome run(void* recvbuf) {
    runtime::Outcome outcome;
    bool is_whole = true;  // all segments have the same contributors: they can only become fewer
    do {
      result_.clear();
      outcome = outcome + run_segment(0);
      const int contributors = contributors_;
      for (int first = step_; first < layout_.count; first += step_)
        outcome = outcome + run_segment(first);
      is_whole = contributors_ == contributors;
    } while (!is_whole);
    if (!is_empty_) unpack(result_, recvbuf, layout_);
    return outcome;
  }

  int code() const { return code_; }

 private:
  runtime::Outcome run_segment(int first) {
    const Layout part = layout_of(layout_.datatype, std::min(step_, layout_.count - first));
    const void* from = static_cast<const char*>(input_) + first * extent_;
    runtime::Session& session = call_.session();
    runtime::Buffer row = session.allocate(runtime::block_bytes(part.spread_bytes));
    runtime::BlockWriter({row.data(), row.size()}).put(call_.rank(), spread(from, part));
    Fold fold(op_, part);
    const auto consume = [&](std::span<const std::byte> blocks) {
      const int end = call_.rank() + (is_inclusive_ ? 1 : 0);
      contributors_ = 0;
      runtime::BlockReader reader(blocks);
      while (const auto block = reader.next()) {
        ++contributors_;
        if (block->rank < end) fold.add(block->data);
      }
    };
    const runtime::Outcome outcome =
        session.allgather(call_.lock(), concatenation_spec(session), std::move(row), consume);
    if (!fold.is_empty()) fold.append_to(result_);
    is_empty_ = fold.is_empty();
    if (fold.code() != MPI_SUCCESS) code_ = fold.code();
    return outcome;
  }

  CollectiveCall& call_;
  const void* input_;
  const Layout layout_;
  const MPI_Op op_;
  const bool is_inclusive_;
  MPI_Aint extent_ = 0;
  int step_ = 1;
  std::vector<std::byte> result_;  // packed
  bool is_empty_ = true;           // nobody is below
  int contributors_ = 0;           // to the last segment: how many
  int code_ = MPI_SUCCESS;
};

int scan(CollectiveCall& call, const void* sendbuf, void* recvbuf, const Layout& layout, MPI_Op op,
         bool is_inclusive) {
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  Scan scan(call, input, layout, op, is_inclusive);
  const runtime::Outcome outcome = scan.run(recvbuf);
  return call.finish(outcome, scan.code());
}

}  // namespace

extern "C" int MPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm) {
  CollectiveCall call(comm, "scan");
  if (!call.is_ours() || !is_valid_reduction(count, datatype, op))
    return call.leave_to([&] { return PMPI_Scan(sendbuf, recvbuf, count, datatype, op, comm); });
  return scan(call, sendbuf, recvbuf, layout_of(datatype, count), op, true);
}

extern "C" int MPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm) {
  CollectiveCall call(comm, "exscan");
  if (!call.is_ours() || !is_valid_reduction(count, datatype, op))
    return call.leave_to([&] { return PMPI_Exscan(sendbuf, recvbuf, count, datatype, op, comm); });
  return scan(call, sendbuf, recvbuf, layout_of(datatype, count), op, false);
}

// MPI_Scan and MPI_Exscan, in all forms: everybody gets the contributions of all, and folds those
// of lower ranks.
//
// Long ones in segments, so that nobody holds the whole contributions of all. If somebody is lost
// on the way, the segments have not the same contributors; then all of them are done again. The
// survivors see that alike, and it costs a process each time.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/carriers/landing.hpp"
#include "mpi/carriers/missing_values.hpp"
#include "mpi/carriers/native_scan.hpp"
#include "mpi/carriers/shared_slots/gathers.hpp"
#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/start_small.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/policies/replicas/blocking_collective.hpp"

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

// What the call says.
struct Arguments {
  const void* sendbuf;
  void* recvbuf;
  int count;
  MPI_Datatype datatype;
  MPI_Op op;
  bool is_inclusive;

  bool are_valid() const {
    return recvbuf != MPI_IN_PLACE && is_valid_reduction(count, datatype, op);
  }
};

// REQUIRES: the arguments are valid.
std::shared_ptr<Collective> make_scan(MPI_Comm comm, runtime::Session& session,
                                      const Arguments& arguments);

// Those of a started one (small_collective.hpp).
struct StartedArguments : Arguments {
  bool are_valid(const runtime::Session&) const { return Arguments::are_valid(); }
  Layout layout() const { return layout_of(datatype, count); }
  SlotWay way(const runtime::Session&) const {
    return {.form = SlotWay::Form::prefix,
            .kind = Kind::scan,
            .bytes = layout().packed_bytes,
            .op = layout().is_dense ? op : MPI_OP_NULL,
            .is_inclusive = is_inclusive};
  }
  std::span<const std::byte> given(const runtime::Session&, std::vector<std::byte>&) const {
    const void* const input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    return {static_cast<const std::byte*>(input), layout().packed_bytes};
  }
  int take(const runtime::Session& session, std::span<const Brought> all) const {
    const int rank = session.everybody().comm_rank(session.everybody().self());
    return fold_brought(all, rank + (is_inclusive ? 1 : 0), op, layout(), recvbuf);
  }
  std::shared_ptr<Collective> make(MPI_Comm comm, runtime::Session& session) const {
    return make_scan(comm, session, *this);
  }
  static bool is_for_program(const runtime::Session&) { return true; }
  bool use(MPI_Datatype other) const { return datatype == other; }
};

class Scan final : public Collective {
 public:
  // REQUIRES: the arguments are valid.
  Scan(runtime::Session& session, const Arguments& arguments)
      : Collective(session),
        arguments_(arguments),
        input_(arguments.sendbuf == MPI_IN_PLACE ? arguments.recvbuf : arguments.sendbuf),
        layout_(layout_of(arguments.datatype, arguments.count)) {
    MPI_Aint lb = 0;
    PMPI_Type_get_extent(layout_.datatype, &lb, &extent_);
    const std::size_t per_element = layout_of(layout_.datatype, 1).spread_bytes;
    const std::size_t at_once = segment_bytes_max / static_cast<std::size_t>(size());
    step_ = static_cast<std::int64_t>(
        std::max<std::size_t>(at_once / std::max<std::size_t>(per_element, 1), 1));
    if (MpiCombiner(arguments.op, layout_).is_for_program()) leave_to_program();
  }

  bool uses(MPI_Datatype datatype) const override { return layout_.datatype == datatype; }
  bool uses(MPI_Op op) const override { return arguments_.op == op; }

 private:
  void begin(runtime::Started& started) override {
    const Layout part = layout_of(layout_.datatype, std::min(step_, layout_.count - first_));
    const void* from = static_cast<const char*>(input_) + first_ * extent_;
    runtime::Buffer row = session().allocate(runtime::block_bytes(part.spread_bytes));
    runtime::BlockWriter({row.data(), row.size()}).put(rank(), spread(from, part));
    fold_.emplace(arguments_.op, part);
    part_bytes_ = part.spread_bytes;
    started.allgather(concatenation_spec(session()), std::move(row));
  }

  void take(std::span<const std::byte> blocks) override {
    const int end = rank() + (arguments_.is_inclusive ? 1 : 0);
    contributors_ = 0;
    runtime::BlockReader reader(blocks);
    while (const auto block = reader.next()) {
      ++contributors_;
      if (block->data.size() != part_bytes_) are_alike_ = false;
      if (block->rank < end && are_alike_) fold_->add(block->data);
    }
  }

  bool go_on(runtime::Started& started, const runtime::Outcome& last) override {
    if (!last.is_delivered || last.is_mismatched) return false;
    if (!are_alike_) {  // as all see
      code_ = MPI_ERR_TRUNCATE;
      return false;
    }
    if (!fold_->is_empty()) fold_->append_to(result_);
    if (fold_->code() != MPI_SUCCESS) code_ = fold_->code();
    if (first_ == 0) first_contributors_ = contributors_;
    first_ += step_;
    const bool is_through = first_ >= layout_.count;
    // All segments have the same contributors: they can only become fewer.
    if (is_through && contributors_ == first_contributors_) {
      if (!fold_->is_empty()) unpack(result_, arguments_.recvbuf, layout_);
      return false;
    }
    if (is_through) {
      first_ = 0;
      result_.clear();
    }
    begin(started);
    return true;
  }

  int code() const override { return code_; }

  const Arguments arguments_;
  const void* const input_;
  const Layout layout_;
  MPI_Aint extent_ = 0;
  std::int64_t step_ = 1;
  std::int64_t first_ = 0;  // element of the segment that goes on
  std::optional<Fold> fold_;
  std::size_t part_bytes_ = 0;     // of a contribution to the segment
  bool are_alike_ = true;          // the contributions to it
  std::vector<std::byte> result_;  // packed
  int contributors_ = 0;           // to the last segment: how many
  int first_contributors_ = 0;     // to the first one
  int code_ = MPI_SUCCESS;
};

// With something in the places of the missing: all at once.
class ScanWithMissingValues final : public Collective {
 public:
  ScanWithMissingValues(MPI_Comm comm, runtime::Session& session, const Arguments& arguments,
                        const MissingValuesOfCall& missing_values)
      : Collective(session),
        comm_(comm),
        missing_values_(missing_values),
        reduction_(arguments.op, arguments.datatype, arguments.count),
        wanted_({arguments.recvbuf}) {
    wanted_.end = rank() + (arguments.is_inclusive ? 1 : 0);
    const bool is_in_place = arguments.sendbuf == MPI_IN_PLACE;
    input_ = reduction_.input(is_in_place ? arguments.recvbuf : arguments.sendbuf);
    leave_to_program();
  }

  bool uses(MPI_Datatype datatype) const override { return reduction_.datatype() == datatype; }
  bool uses(MPI_Op op) const override { return reduction_.op() == op; }

 private:
  void begin(runtime::Started& started) override {
    started.allgather(reduce_spec(session(), reduction_.bytes()),
                      row_for_missing_values(session(), input_));
  }
  void take(std::span<const std::byte> rows) override {
    fits_ = fold_with(missing_values_, session(), reduction_, comm_, rows, wanted_);
  }
  int code() const override { return fits_ ? reduction_.code() : MPI_ERR_TRUNCATE; }

  const MPI_Comm comm_;
  const MissingValuesOfCall missing_values_;
  Reduction reduction_;
  WantedSum wanted_;
  std::span<const std::byte> input_;
  bool fits_ = true;
};

std::shared_ptr<Collective> make_scan(MPI_Comm comm, runtime::Session& session,
                                      const Arguments& arguments) {
  if (const auto missing_values = missing_values_of(*communicator_of(comm)))
    return std::make_shared<ScanWithMissingValues>(comm, session, arguments, *missing_values);
  return std::make_shared<Scan>(session, arguments);
}

int scan_along_ranks(CollectiveCall& call, const Arguments& arguments, MPI_Comm native) {
  Reduction reduction(arguments.op, arguments.datatype, arguments.count);
  const bool is_in_place = arguments.sendbuf == MPI_IN_PLACE;
  NativeScan scan({.native = native,
                   .rank = call.rank(),
                   .size = call.size(),
                   .recvbuf = arguments.recvbuf,
                   .is_inclusive = arguments.is_inclusive},
                  reduction, reduction.input(is_in_place ? arguments.recvbuf : arguments.sendbuf));
  return call.run_ahead(scan);
}

// Leaves it to the MPI library until a loss: what the call returns; nothing if it is for the
// session. The first rank of an exclusive scan gets nothing.
std::optional<int> leave_scan(CollectiveCall& call, const Arguments& arguments) {
  const auto& [sendbuf, recvbuf, count, datatype, op, is_inclusive] = arguments;
  const Piece sum = Piece::of(recvbuf, count, datatype);
  const MPI_Comm native = call.native(Kind::scan, sum.layout.packed_bytes);
  if (native == MPI_COMM_NULL) return std::nullopt;
  // One that others need not wait for.
  if (call.may_keep_given(sum.layout.spread_bytes))
    return scan_along_ranks(call, arguments, native);
  Landing landing({sum});
  Landing nothing;
  const bool has_sum = is_inclusive || call.rank() != 0;
  const void* from = sendbuf == MPI_IN_PLACE ? landing.input_at(recvbuf) : sendbuf;
  const auto library = is_inclusive ? PMPI_Scan : PMPI_Exscan;
  void* to = landing.at(recvbuf);
  return call.run(native, has_sum ? landing : nothing, [&, n = count, type = datatype, with = op] {
    return library(from, to, n, type, with, native);
  });
}

// The same over shared slots, for few elements and an operator of MPI's.
std::optional<int> scan_in_rendezvous(CollectiveCall& call, const Arguments& arguments) {
  const auto& [sendbuf, recvbuf, count, datatype, op, is_inclusive] = arguments;
  const Layout layout = layout_of(datatype, count);
  if (!goes_by_shared_slots(call, Kind::scan, layout.spread_bytes, op)) return std::nullopt;
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  std::vector<Brought> all;
  Given given;
  runtime::Outcome outcome = delivered();
  auto code = goes_by_gather(call, layout.spread_bytes)
                  ? gather_by_shared_slots(call, share_of_scan(call, is_inclusive),
                                           spread(input, layout), given, all, outcome)
                  : meet_by_shared_slots(call, spread(input, layout), all);
  if (!code) return std::nullopt;
  Fold fold(op, layout);
  const int end = call.rank() + (is_inclusive ? 1 : 0);
  for (const auto& [rank, data] : all) {
    if (data.size() != layout.spread_bytes) code = MPI_ERR_TRUNCATE;
    if (rank < end && *code == MPI_SUCCESS) fold.add(data);
  }
  if (fold.code() != MPI_SUCCESS) code = fold.code();
  if (*code == MPI_SUCCESS && !fold.is_empty()) {
    std::vector<std::byte> sum;
    fold.append_to(sum);
    unpack(sum, recvbuf, layout);
  }
  return call.finish(outcome, *code);
}

// The whole call, over shared slots if they are there and nothing is in the way.
Taken maybe_scan_at_head(const Arguments& arguments, MPI_Comm comm, int& code) {
  if (!arguments.are_valid()) return Taken::no;
  return maybe_scan_by_shared_slots(arguments.sendbuf, arguments.recvbuf, arguments.count,
                                    arguments.datatype, arguments.op, arguments.is_inclusive, comm,
                                    code);
}

Startable scan(const Arguments& arguments) {
  const MakeCollective make = make_collective(StartedArguments{arguments});
  const auto& [sendbuf, recvbuf, count, datatype, op, is_inclusive] = arguments;
  if (is_inclusive)
    return {make,
            call_data_of::allreduce(sendbuf, recvbuf, count, datatype, op, Pattern::Kind::prefix)};
  return {make, call_data_of::exscan(sendbuf, recvbuf, count, datatype, op)};
}

}  // namespace

extern "C" int MPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm) {
  const Compared compared(
      comm, "scan",
      call_data_of::allreduce(sendbuf, recvbuf, count, datatype, op, Pattern::Kind::prefix));
  const Arguments arguments{sendbuf, recvbuf, count, datatype, op, true};
  int code = MPI_SUCCESS;
  const Taken taken = maybe_scan_at_head(arguments, comm, code);
  if (taken == Taken::done) return code;
  CollectiveCall call(comm, "scan", CollectiveCall::Lock::at_once, entry_after(taken));
  if (!call.is_ours() || !arguments.are_valid())
    return call.leave_to([&] { return PMPI_Scan(sendbuf, recvbuf, count, datatype, op, comm); });
  auto ended = scan_in_rendezvous(call, arguments);
  if (!ended) ended = leave_scan(call, arguments);
  return ended ? *ended : make_scan(comm, call.session(), arguments)->run(call);
}

extern "C" int MPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm) {
  const Compared compared(comm, "exscan",
                          call_data_of::exscan(sendbuf, recvbuf, count, datatype, op));
  const Arguments arguments{sendbuf, recvbuf, count, datatype, op, false};
  int code = MPI_SUCCESS;
  const Taken taken = maybe_scan_at_head(arguments, comm, code);
  if (taken == Taken::done) return code;
  CollectiveCall call(comm, "exscan", CollectiveCall::Lock::at_once, entry_after(taken));
  if (!call.is_ours() || !arguments.are_valid())
    return call.leave_to([&] { return PMPI_Exscan(sendbuf, recvbuf, count, datatype, op, comm); });
  auto ended = scan_in_rendezvous(call, arguments);
  if (!ended) ended = leave_scan(call, arguments);
  return ended ? *ended : make_scan(comm, call.session(), arguments)->run(call);
}

extern "C" int MPI_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const Arguments arguments{sendbuf, recvbuf, count, datatype, op, true};
  if (maybe_start_at_head(comm, "iscan", request, StartedArguments{arguments})) return MPI_SUCCESS;
  return start_collective(comm, "iscan", request, scan(arguments), [&] {
    return PMPI_Iscan(sendbuf, recvbuf, count, datatype, op, comm, request);
  });
}

extern "C" int MPI_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const Arguments arguments{sendbuf, recvbuf, count, datatype, op, false};
  if (maybe_start_at_head(comm, "iexscan", request, StartedArguments{arguments}))
    return MPI_SUCCESS;
  return start_collective(comm, "iexscan", request, scan(arguments), [&] {
    return PMPI_Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request);
  });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return init_collective(
      comm, "scan_init", request, scan({sendbuf, recvbuf, count, datatype, op, true}),
      [&] { return PMPI_Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request); });
}

extern "C" int MPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return init_collective(
      comm, "exscan_init", request, scan({sendbuf, recvbuf, count, datatype, op, false}),
      [&] { return PMPI_Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request); });
}

#endif

#include "mpi/carriers/missing_values.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "mpi/carriers/estimate.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/datatypes/numbers.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/process/world.hpp"
#include "runtime/blocks.hpp"
#include "runtime/collectives.hpp"

namespace resprout::shim {
namespace {

using Payload = std::vector<std::byte>;

// One operation's folding of contributions and missing values.
class Fold {
 public:
  // `end`: contributions of lower ranks only are in the result.
  Fold(const MissingValuesOfCall& missing_values, const runtime::Session& session,
       Reduction& reduction, MPI_Comm comm, int end)
      : missing_values_(missing_values),
        session_(session),
        reduction_(reduction),
        comm_(comm),
        end_(end) {}

  // Members gave contributions of another size: there is no result.
  bool is_mismatched() const { return is_mismatched_; }
  // The result of all; empty if nobody gave anything.
  std::optional<Payload> run(std::span<const std::byte> row) {
    const int ranks = session_.everybody().size();
    std::vector<std::optional<std::span<const std::byte>>> blocks(static_cast<std::size_t>(ranks));
    runtime::BlockReader reader(row);
    while (const auto block = reader.next()) {
      if (block->data.size() != reduction_.input_bytes()) is_mismatched_ = true;
      blocks[static_cast<std::size_t>(block->rank)] = block->data;
    }
    if (is_mismatched_) return std::nullopt;
    if (option().is_remembered())
      given_ = &missing_values_.of_communicator->kind_of(session_, reduction_).given;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& block = blocks[static_cast<std::size_t>(rank)];
      if (block) {
        if (rank < end_) add({block->begin(), block->end()});
        if (given_ != nullptr) remember((*given_)[rank], *block);
        continue;
      }
      if (given_ != nullptr) ++(*given_)[rank].missed;
      if (auto value = rank < end_ ? value_for(rank) : std::nullopt) {
        add(std::move(*value));
      }
    }
    return std::move(sum_);
  }

 private:
  static const Missing& option() { return World::current()->options().missing; }

  // The reductions that have any count their elements in an int.
  std::optional<Payload> value_for(int rank) {
    const auto count = static_cast<int>(reduction_.count());
    if (missing_values_.callback != nullptr)
      return reduction_.contribution([&](void* buffer) {
        return missing_values_.callback(comm_, rank, buffer, count, reduction_.datatype(),
                                        missing_values_.extra) != 0;
      });
    if (option().what == Missing::What::value)
      return reduction_.contribution([&](void* buffer) {
        return fill_with(option().value, buffer, count, reduction_.datatype());
      });
    const LastGiven& given = (*given_)[rank];
    if (given.payloads.empty()) return std::nullopt;
    return estimated(given, count).value_or(given.payloads.back());
  }

  void remember(LastGiven& given, std::span<const std::byte> block) {
    const std::size_t most = option().what == Missing::What::last ? 1 : remembered_max;
    given.missed = 0;
    if (given.payloads.size() == most) given.payloads.pop_front();
    given.payloads.emplace_back(block.begin(), block.end());
  }

  // Nothing: they are no numbers, or do not lie side by side, and the last one has to do.
  std::optional<Payload> estimated(const LastGiven& given, int count) {
    if (option().what == Missing::What::last || !reduction_.has_elements_side_by_side())
      return std::nullopt;
    const std::size_t size = given.payloads.size();
    const std::vector<double> weights = option().what == Missing::What::mean
                                            ? mean_weights(size)
                                            : linear_weights(size, given.missed);
    std::vector<WeightedNumbers> terms;
    for (std::size_t i = 0; i < size; ++i) terms.push_back({given.payloads[i].data(), weights[i]});
    return reduction_.contribution(
        [&](void* buffer) { return fill_with_sums(terms, buffer, count, reduction_.datatype()); });
  }

  // Behind what is there already.
  void add(Payload payload) {
    if (sum_) reduction_.combiner().combine(*sum_, payload);
    sum_ = std::move(payload);
  }

  const MissingValuesOfCall& missing_values_;
  const runtime::Session& session_;
  Reduction& reduction_;
  MPI_Comm comm_;
  const int end_;
  std::map<int, LastGiven>* given_ = nullptr;  // null: nothing is remembered
  std::optional<Payload> sum_;
  bool is_mismatched_ = false;
};

}  // namespace

Remembered& MissingValues::kind_of(const runtime::Session& session, const Reduction& reduction) {
  std::vector<Remembered>& known = last[session.id()];
  const Bearer datatype_bearer = bearer_of(reduction.datatype());
  const Bearer op_bearer = bearer_of(reduction.op());
  const auto same = std::find_if(known.begin(), known.end(), [&](const Remembered& one) {
    return one.count == reduction.count() && one.datatype == reduction.datatype() &&
           one.datatype_bearer == datatype_bearer && one.op == reduction.op() &&
           one.op_bearer == op_bearer;
  });
  if (same != known.end()) {
    std::rotate(same, same + 1, known.end());
    return known.back();
  }
  if (known.size() == kinds_max) known.erase(known.begin());
  return known.emplace_back(Remembered{
      reduction.count(), reduction.datatype(), datatype_bearer, reduction.op(), op_bearer, {}});
}

std::optional<MissingValuesOfCall> missing_values_of(Communicator& communicator) {
  std::shared_ptr<MissingValues>& missing_values = communicator.missing_values;
  const bool is_asked_for = World::current()->options().missing.what != Missing::What::nothing;
  if (!missing_values && is_asked_for) missing_values = std::make_shared<MissingValues>();
  if (!missing_values || (!is_asked_for && missing_values->callback == nullptr))
    return std::nullopt;
  return MissingValuesOfCall{missing_values.get(), missing_values->callback, missing_values->extra};
}

runtime::Buffer row_for_missing_values(runtime::Session& session,
                                       std::span<const std::byte> payload) {
  const runtime::Members& everybody = session.everybody();
  runtime::Buffer row = session.allocate(runtime::block_bytes(payload.size()));
  runtime::BlockWriter({row.data(), row.size()})
      .put(everybody.comm_rank(everybody.self()), payload);
  return row;
}

bool fold_with(const MissingValuesOfCall& missing_values, const runtime::Session& session,
               Reduction& reduction, MPI_Comm comm, std::span<const std::byte> rows,
               const WantedSum& wanted) {
  Fold fold(missing_values, session, reduction, comm, wanted.end);
  const auto result = fold.run(rows);
  if (result && wanted.buffer != nullptr && wanted.count == WantedSum::all)
    reduction.write(*result, wanted.buffer);
  else if (result && wanted.buffer != nullptr)
    reduction.write_part(*result, wanted.first, wanted.count, wanted.buffer);
  return !fold.is_mismatched();
}

void fill_missing(const MissingValuesOfCall& missing_values, MPI_Comm comm, int ranks,
                  std::span<const std::byte> rows, const std::function<Piece(int rank)>& piece_of) {
  std::vector<bool> are_there(static_cast<std::size_t>(ranks));
  runtime::BlockReader reader(rows);
  while (const auto block = reader.next()) are_there[static_cast<std::size_t>(block->rank)] = true;
  const Missing& option = World::current()->options().missing;
  for (int rank = 0; rank < ranks; ++rank) {
    if (are_there[static_cast<std::size_t>(rank)]) continue;
    const Piece piece = piece_of(rank);
    const auto count = static_cast<int>(piece.layout.count);
    if (missing_values.callback != nullptr)
      missing_values.callback(comm, rank, piece.buffer, count, piece.layout.datatype,
                              missing_values.extra);
    else if (option.what == Missing::What::value)
      fill_with(option.value, piece.buffer, count, piece.layout.datatype);
  }
}

runtime::Outcome allreduce_with(const MissingValuesOfCall& missing_values, CollectiveCall& call,
                                Reduction& reduction, MPI_Comm comm, const void* input,
                                const WantedSum& wanted) {
  runtime::Lock& lock = call.lock();  // before any memory is taken
  bool fits = true;
  runtime::Outcome outcome = runtime::allgather(
      call.session(), lock, reduce_spec(call.session(), reduction.bytes()),
      row_for_missing_values(call.session(), reduction.input(input)),
      [&](std::span<const std::byte> rows) {
        fits = fold_with(missing_values, call.session(), reduction, comm, rows, wanted);
      });
  if (!fits) outcome.is_mismatched = true;
  return outcome;
}

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int resprout_on_missing(MPI_Comm comm, resprout_stand_in* function, void* extra) {
  constexpr const char* name = "resprout_on_missing";
  if (World::current() == nullptr || comm == MPI_COMM_NULL)
    return finish(MPI_COMM_WORLD, name, MPI_ERR_COMM);
  Communicator& communicator = *communicator_of(comm);
  if (communicator.is_inter) return finish(comm, name, MPI_ERR_COMM);
  if (!communicator.missing_values) communicator.missing_values = std::make_shared<MissingValues>();
  communicator.missing_values->callback = function;
  communicator.missing_values->extra = extra;
  return MPI_SUCCESS;
}

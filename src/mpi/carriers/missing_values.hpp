// What stands in for the contributions of those who are missing in a reduction, a scan or a gather.
//
// FTCO, section 7, wishes for it. RESPROUT_MISSING says it for all communicators,
// resprout_on_missing for one. A reduction with missing values is an allgather: every process that
// has the result folds all contributions itself, in the order of ranks, and puts missing values at
// the places of the missing. So they work with operators that do not commute, and a rank's last
// contribution is known to all. It costs the memory and the messages of all contributions. Scans
// and reduce-scatters are the same with another end. In gathers they are written where the missing
// would have been.
//
// Invariant: everybody who has the result of an operation has used the same missing values.
// Thread rule: as the session's operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/handles/operators/bearers.hpp"
#include "mpi/handles/operators/reduction.hpp"
#include "mpi/process/options.hpp"
#include "resprout/resprout.h"

namespace resprout::shim {

// What a rank has given last, the oldest first; and for how many operations it has given nothing.
struct LastGiven {
  std::deque<std::vector<std::byte>> payloads;
  std::size_t missed = 0;
};

// The last contributions to reductions of one kind: of so many elements of a datatype, by an
// operator. MPI may give a handle that was freed to something else: that is another kind.
struct Remembered {
  std::int64_t count;
  MPI_Datatype datatype;
  Bearer datatype_bearer;
  MPI_Op op;
  Bearer op_bearer;
  std::map<int, LastGiven> given;  // by rank in the communicator
};

// What a communicator knows of its reductions.
struct MissingValues {
  static constexpr std::size_t kinds_max = 8;

  resprout_stand_in* callback = nullptr;  // goes before the option
  void* extra = nullptr;
  // By session, as each has its own order. The kind that was met last comes last.
  std::map<std::uint64_t, std::vector<Remembered>> last;

  // What is remembered of the reduction's kind; the kind that was not met for longest gives way.
  Remembered& kind_of(const runtime::Session& session, const Reduction& reduction);
};

// What a call has to do with them: what was said when it began, whatever is said before it is over.
// Lives as long as the communicator.
struct MissingValuesOfCall {
  MissingValues* of_communicator;
  resprout_stand_in* callback;  // null: what the option says
  void* extra;
};

// Nothing: nobody will be stood in for.
std::optional<MissingValuesOfCall> missing_values_of(Communicator& communicator);

// What this process wants of a reduction.
struct WantedSum {
  static constexpr std::int64_t all = -1;

  void* buffer = nullptr;  // null: nothing
  std::int64_t first = 0;  // element of the sum
  std::int64_t count = all;
  int end = std::numeric_limits<int>::max();  // of the ranks whose contributions are in it
};

// A reduction whose result everybody writes where it wants it.
runtime::Outcome allreduce_with(const MissingValuesOfCall& missing_values, CollectiveCall& call,
                                Reduction& reduction, MPI_Comm comm, const void* input,
                                const WantedSum& wanted);

// The parts of that: what this process gives to the allgather, and what becomes of its result.
runtime::Buffer row_for_missing_values(runtime::Session& session,
                                       std::span<const std::byte> payload);
// False: members gave contributions of different sizes, and there is no result.
bool fold_with(const MissingValuesOfCall& missing_values, const runtime::Session& session,
               Reduction& reduction, MPI_Comm comm, std::span<const std::byte> rows,
               const WantedSum& wanted);

// Of a gather: writes something for those who have no block in `rows` into their pieces, which have
// so many elements. What they gave last is not known, and may be there still.
void fill_missing(const MissingValuesOfCall& missing_values, MPI_Comm comm, int ranks,
                  std::span<const std::byte> rows, const std::function<Piece(int rank)>& piece_of);

}  // namespace resprout::shim

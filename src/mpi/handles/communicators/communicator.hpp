// What the shim knows of a communicator: its world ranks, and its session if it has one.
//
// The knowledge hangs on the communicator as an attribute, made when it is first asked for, so it
// does not matter how the communicator came to be (dup, split, create, a library's own). Its
// session is opened where the communicator is made, under a name that all members have in common:
// it follows from that of the communicator it is made of or, where there is none, they agree on it
// (handles/communicators/common_name.hpp). Only for what was made behind the shim's back does the
// first collective open it, by how many of the same processes came before.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/handles/communicators/cartesian.hpp"
#include "mpi/handles/communicators/graph.hpp"
#include "mpi/process/options.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

// How often each collective was called on a communicator.
class CallCounts {
 public:
  // The number of this call among those of its name, from 1. `name`: a string literal that stands
  // at one place only. REQUIRES: not more names than there are collectives of any form.
  std::uint64_t next(const char* name) { return ++count_of(name); }
  // Of the last such call.
  std::uint64_t current(const char* name) { return count_of(name); }

 private:
  std::uint64_t& count_of(const char* name) {
    auto entry = entries_.begin();
    while (entry->name != nullptr && entry->name != name) ++entry;
    entry->name = name;
    return entry->count;
  }

  struct Entry {
    const char* name = nullptr;
    std::uint64_t count = 0;
  };
  std::array<Entry, 96> entries_{};
};

struct MissingValues;
struct CommunicatorSlots;

// Of a communicator that was made without the MPI library (derived.hpp).
struct DerivedCommunicator {
  int pool_index;    // the number of
  MPI_Comm carrier;  // what its messages go over: a duplicate of MPI_COMM_WORLD
  std::vector<std::pair<int, int>> by_world_rank;  // world rank, rank: ascending
};

// How many of these there were so far: they have numbers.
struct MadeOfIt {
  std::uint64_t persistent = 0;          // collectives
  std::uint64_t duplicates_started = 0;  // by the MPI library
  int neighborhoods = 0;                 // persistent
};

struct Communicator {
  bool is_inter = false;
  int rank = 0;                  // own rank in it
  std::vector<int> world_ranks;  // of the remote group if it is an inter-communicator;
                                 // MPI_UNDEFINED for processes that are not of this world
  std::optional<DerivedCommunicator> derived;
  std::optional<Grid> grid;    // of a derived one
  std::optional<Graph> graph;  // likewise
  runtime::Session* session = nullptr;
  runtime::Session* repair = nullptr;  // for what goes on when `session` is revoked
  runtime::Session* last = nullptr;    // in which its last collective was called; null: none yet,
                                       // or its shared slots carried that
  std::uint64_t name = 0;              // handles/communicators/communicator_name.hpp; 0: has none
  std::optional<std::uint64_t> session_name;  // under which `session` is to be opened
  CallCounts calls;
  std::map<std::pair<int, std::vector<int>>, std::uint64_t> groups_made;  // by tag and world ranks
  MadeOfIt made;
  std::shared_ptr<MissingValues> missing_values;      // of its reductions, if it has any
  std::optional<runtime::BroadcastSpec> broadcast;    // what a hint asks for
  std::optional<Collectives> collectives;             // likewise
  std::optional<const Calibration::Row*> calibrated;  // null: none fits; nothing: not looked up yet
  bool is_native = false;                             // its collectives are left to the MPI library
  std::shared_ptr<CommunicatorSlots> shared_slots;    // of its small collectives, once opened
  MPI_Comm native = MPI_COMM_NULL;                    // where the MPI library may carry ours
  MPI_Comm neighbors = MPI_COMM_NULL;                 // where neighbors exchange their blocks
  bool is_of_library = false;                         // attributes.hpp
  std::atomic<bool> is_revoked = false;               // though it has no session
  std::atomic<bool> returns_errors = false;           // the program's handler is known to do that
  std::vector<int> failed;  // its ranks that failed, in the order in which this process learned
  std::size_t acknowledged = 0;                                               // so many of them
  enum class Agreed { not_yet, on_it, against_it } agreed = Agreed::not_yet;  // to use `native`
  bool is_departing = false;  // departures.hpp has it now
  // Its handle still means it: it has requests left (lingering.hpp), or is not unmade yet.
  bool is_lingering = false;
  bool is_broken = false;  // what carries its messages, for good
};

// REQUIRES: MPI is initialized; `comm` is valid. Never null; lives as long as the communicator.
Communicator* communicator_of(MPI_Comm comm);

// Says of `comm` what MPI does not know of it. REQUIRES: nobody has asked before.
void describe_communicator(MPI_Comm comm, std::unique_ptr<Communicator> communicator);
// The handle goes on to another communicator.
void undescribe_communicator(MPI_Comm comm);

// MPI_UNDEFINED: not of this world.
std::vector<int> world_ranks_of(MPI_Group group);

// Its session will be opened under this name. `comm`: of which MPI may not be asked anything yet.
void name_session(MPI_Comm comm, std::uint64_t name);

// At MPI_Finalize: forgets everything.
void forget_communicators();

}  // namespace resprout::shim

// What the shim knows of a communicator: its world ranks, and its session if it has one.
//
// The knowledge hangs on the communicator as an attribute, made when it is first asked for, so it
// does not matter how the communicator came to be (dup, split, create, a library's own). A session
// is opened by the first collective, which all members enter in the same order; so all give it the
// same identity without a message.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/session.hpp"

namespace resprout::shim {

// How often each collective was called on a communicator.
class CallCounts {
 public:
  // The number of this call among those of its name, from 1. `name`: a string literal that stands
  // at one place only. REQUIRES: not more names than there are collectives of any form.
  std::uint64_t next(const char* name) {
    auto entry = entries_.begin();
    while (entry->name != nullptr && entry->name != name) ++entry;
    entry->name = name;
    return ++entry->count;
  }

 private:
  struct Entry {
    const char* name = nullptr;
    std::uint64_t count = 0;
  };
  std::array<Entry, 96> entries_{};
};

struct StandIns;

struct Communicator {
  Communicator();
  ~Communicator();

  bool is_inter = false;
  int rank = 0;                  // own rank in it
  std::vector<int> world_ranks;  // of the remote group if it is an inter-communicator;
                                 // MPI_UNDEFINED for processes that are not of this world
  runtime::Session* session = nullptr;
  CallCounts calls;
  std::unique_ptr<StandIns> stand_ins;              // of its reductions, if it has any
  std::optional<runtime::BroadcastSpec> broadcast;  // what a hint asks for
  bool is_native = false;                           // its collectives are left to the MPI library
  MPI_Comm native = MPI_COMM_NULL;                  // where the MPI library may carry ours
  enum class Agreed { not_yet, on_it, against_it } agreed = Agreed::not_yet;  // to use `native`
};

// REQUIRES: MPI is initialized; `comm` is valid. Never null; lives as long as the communicator.
Communicator* communicator_of(MPI_Comm comm);

// The session for a collective on `comm`; null if its collectives are the MPI library's business.
runtime::Session* session_of(MPI_Comm comm, runtime::Lock& lock);

// For the wrappers that end a communicator, before MPI does.
void close_communicator(MPI_Comm comm);

// At MPI_Finalize: forgets everything.
void forget_communicators();

}  // namespace resprout::shim

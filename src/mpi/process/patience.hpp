// Waiting by asking MPI again and again.
//
// Where ranks outnumber cores the launcher has the MPI library yield the processor whenever it
// looks for messages in vain (mpi_yield_when_idle). Who then yields once more before the next look
// finds its message only when everybody else on that core has had two turns instead of one.
#pragma once

#include <sched.h>

#include <cstdlib>
#include <string_view>

#include "mpi/process/meanwhile.hpp"
#include "mpi/process/open_windows.hpp"
#include "runtime/idle.hpp"

namespace resprout::shim {

inline bool does_mpi_yield() {
  static const bool does = [] {
    const char* said = std::getenv("OMPI_MCA_mpi_yield_when_idle");
    return said != nullptr && std::string_view(said) == "1";
  }();
  return does;
}

// Pauses between two looks, each of which has MPI make progress.
class Patience {
 public:
  Patience() : idle_(does_mpi_yield() ? looks_in_vain : runtime::IdleStrategy{}) {}

  void pause() {
    meanwhile();
    if (!has_windows())
      idle_.pause();
    else if (!does_mpi_yield())
      sched_yield();
  }

 private:
  static constexpr runtime::IdleStrategy looks_in_vain{.spins = runtime::IdleStrategy{}.yields,
                                                       .yields = 0};

  runtime::Idle idle_;
};

}  // namespace resprout::shim

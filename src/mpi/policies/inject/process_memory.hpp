// The memory of this whole process, of which one bit is another one on purpose.
//
// Lazy Fault Detection for Redundant MPI, chapter 3: corruption happens anywhere in memory, and
// "eventually propagates to send buffers". The bit is one of all pages that are private, writable
// and present: what the process has written, its libraries' data and ours with it. Of the stack
// only what is in use counts, if the caller is on it.
//
// Thread rule: from any thread. Others may change what is mapped meanwhile; then a bit of what was
// mapped before is meant, and if it is gone nothing is flipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mpi/process/options.hpp"

namespace resprout::shim {

struct FlippedBit {
  Fault::Area area = Fault::Area::process;  // in which it lies: never `process`, but where it is
                                            // data of a library
  std::uintptr_t address = 0;               // of its byte
  std::uint64_t bit = 0;                    // of all that were to be chosen from
  std::uint64_t bytes = 0;                  // so many were
};

// Flips one bit of the area: that with the number `bit`, modulo how many there are. Nothing: there
// are none, or it is no more.
std::optional<FlippedBit> flip_in_process(Fault::Area area, std::uint64_t bit);

}  // namespace resprout::shim

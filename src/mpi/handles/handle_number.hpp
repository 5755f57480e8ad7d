// The handles of MPI as numbers: pointers in Open MPI, integers in MPICH and Intel MPI.
#pragma once

#include <cstdint>
#include <type_traits>

namespace resprout::shim {

// Different for different handles of one kind.
template <typename Handle>
std::uintptr_t number_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<std::uintptr_t>(handle);
  else
    return static_cast<std::uintptr_t>(handle);
}

}  // namespace resprout::shim

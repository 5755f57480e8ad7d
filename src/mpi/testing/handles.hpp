// Handles of requests for unit tests: names only, MPI is never given them.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

namespace resprout::shim {

inline MPI_Request handle(std::size_t number) {
  static std::array<char, 8> places;
  return reinterpret_cast<MPI_Request>(&places.at(number));
}

}  // namespace resprout::shim

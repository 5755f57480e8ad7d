// What an info object says under a key. Thread rule: as MPI's own.
#pragma once

#include <mpi.h>

#include <array>
#include <optional>
#include <string>

namespace resprout::shim {

// REQUIRES: `info` is one.
inline std::optional<std::string> value_of(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> text{};
  int is_given = 0;
  PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text.data(), &is_given);
  return is_given != 0 ? std::optional<std::string>(text.data()) : std::nullopt;
}

}  // namespace resprout::shim

// Hints: a communicator can have a protocol of its own for its broadcasts.
//
// MPI's way to tell a library how to treat a communicator is an info object. The key is
// `resprout_bcast`, the value a spec as for RESPROUT_BCAST. Programs that run without Resprout lose
// nothing by it: unknown keys are ignored.
#include <array>
#include <cstdio>

#include "shim/collectives/specs.hpp"
#include "shim/communicator.hpp"
#include "shim/errors.hpp"
#include "shim/world.hpp"

using namespace resprout::shim;

namespace {

constexpr const char* key = "resprout_bcast";

}  // namespace

// As MPI demands, all members call it with the same hints, and no broadcast is running meanwhile. A
// wrong spec changes nothing: one line on stderr, and MPI_ERR_INFO_VALUE.
extern "C" int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  std::array<char, MPI_MAX_INFO_VAL + 1> text{};
  int is_given = 0;
  if (World::current() != nullptr && comm != MPI_COMM_NULL && info != MPI_INFO_NULL)
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text.data(), &is_given);
  if (is_given != 0) {
    const std::string wrong = read_broadcast(text.data(), communicator_of(comm)->broadcast);
    if (!wrong.empty()) {
      std::fprintf(stderr, "resprout: %s: %s\n", key, wrong.c_str());
      return finish(comm, "comm_set_info", MPI_ERR_INFO_VALUE);
    }
  }
  return PMPI_Comm_set_info(comm, info);
}

#include "shim/replication/communicator_name.hpp"

#include "core/random.hpp"
#include "shim/communicator.hpp"

namespace resprout::shim {
namespace {

constexpr std::uint64_t name_of_world = 1;
constexpr std::uint64_t name_of_self = 2;

}  // namespace

std::optional<std::uint64_t> name_of(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return name_of_world;
  if (comm == MPI_COMM_SELF) return name_of_self;
  const std::uint64_t name = communicator_of(comm)->name;
  return name != 0 ? std::optional(name) : std::nullopt;
}

void name_child(MPI_Comm parent, MPI_Comm made) {
  const auto name = name_of(parent);
  const std::uint64_t number = ++communicator_of(parent)->named_children;
  if (!name || made == MPI_COMM_NULL) return;
  std::uint64_t state = *name;
  state = splitmix64(state) ^ number;
  communicator_of(made)->name = splitmix64(state) | 4;  // not 0, and not one of the fixed ones
}

}  // namespace resprout::shim

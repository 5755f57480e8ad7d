#include "mpi/handles/communicators/communicator_name.hpp"

#include <unordered_map>

#include "core/random.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

constexpr std::uint64_t name_of_world = 1;
constexpr std::uint64_t name_of_self = 2;

struct Lineages {
  runtime::Mutex mutex;
  std::unordered_map<std::uint64_t, std::string> by_name{{name_of_world, "world"},
                                                         {name_of_self, "self"}};
  NamedChildren children RESPROUT_GUARDED_BY(mutex);
};

Lineages& lineages() {
  static auto* instance = new Lineages;
  return *instance;
}

// `state`: what tells it from others. REQUIRES: the lock.
void give_name(MPI_Comm made, std::uint64_t state, const std::string& lineage) {
  const std::uint64_t given = splitmix64(state) | 4;  // not 0, and not one of the fixed ones
  communicator_of(made)->name = given;
  lineages().by_name[given] = lineage;
}

}  // namespace

std::optional<std::uint64_t> name_of(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return name_of_world;
  if (comm == MPI_COMM_SELF) return name_of_self;
  const std::uint64_t name = communicator_of(comm)->name;
  return name != 0 ? std::optional(name) : std::nullopt;
}

void name_child(MPI_Comm parent, MPI_Comm made) {
  const auto name = name_of(parent);
  if (!name) return;
  const runtime::MutexLock lock(lineages().mutex);
  const std::uint64_t number = ++lineages().children[*name];
  if (made == MPI_COMM_NULL) return;
  std::uint64_t state = *name;
  state = splitmix64(state) ^ number;
  give_name(made, state, lineages().by_name[*name] + "/" + std::to_string(number));
}

void name_group(MPI_Comm parent, MPI_Comm made, int tag, std::span<const int> world_ranks,
                std::uint64_t number) {
  const auto name = name_of(parent);
  if (!name) return;
  std::uint64_t state = ~*name;
  const auto add = [&](std::uint64_t word) { state = splitmix64(state) ^ word; };
  add(number);
  add(static_cast<std::uint64_t>(tag));
  for (const int rank : world_ranks) add(static_cast<std::uint64_t>(rank));
  const runtime::MutexLock lock(lineages().mutex);
  give_name(made, state, lineages().by_name[*name] + "/group");
}

std::string lineage_of(std::uint64_t name) {
  const runtime::MutexLock lock(lineages().mutex);
  return lineages().by_name[name];
}

NamedChildren named_children() {
  const runtime::MutexLock lock(lineages().mutex);
  return lineages().children;
}

void set_named_children(const NamedChildren& children) {
  const runtime::MutexLock lock(lineages().mutex);
  lineages().children = children;
}

}  // namespace resprout::shim

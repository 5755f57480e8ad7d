#include "mpi/handles/communicators/attributes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/process/world.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

// Never destroyed: programs may set attributes as late as they like.
struct Tables {
  runtime::Mutex mutex;
  std::map<int, CopyAttribute> keys RESPROUT_GUARDED_BY(mutex);
  // The keys that a communicator has.
  std::map<MPI_Comm, std::vector<int>> set RESPROUT_GUARDED_BY(mutex);
};

Tables& tables() {
  static auto* instance = new Tables;
  return *instance;
}

std::vector<int> keys_of(MPI_Comm comm) {
  const runtime::MutexLock lock(tables().mutex);
  const auto it = tables().set.find(comm);
  return it != tables().set.end() ? it->second : std::vector<int>();
}

CopyAttribute copy_of(int key) {
  const runtime::MutexLock lock(tables().mutex);
  const auto it = tables().keys.find(key);
  return it != tables().keys.end() ? it->second : nullptr;
}

// Nothing: there is no such attribute, or its key was freed, of which the program shall not hear.
std::optional<void*> value_of(MPI_Comm comm, int key) {
  const QuietErrors quiet;
  void* value = nullptr;
  int is_set = 0;
  const int code = PMPI_Comm_get_attr(comm, key, &value, &is_set);
  return code == MPI_SUCCESS && is_set != 0 ? std::optional(value) : std::nullopt;
}

int copy_attribute(MPI_Comm_copy_attr_function* copy, void* extra, MPI_Comm from, MPI_Comm to,
                   int key) {
  const auto value = value_of(from, key);
  if (!value || copy == MPI_COMM_NULL_COPY_FN) return MPI_SUCCESS;
  void* copied = *value;
  int is_copied = 1;
  if (copy != MPI_COMM_DUP_FN) {
    const int code = copy(from, key, extra, *value, &copied, &is_copied);
    if (code != MPI_SUCCESS) return code;
  }
  if (is_copied == 0) return MPI_SUCCESS;
  note_attribute(to, key);
  return PMPI_Comm_set_attr(to, key, copied);
}

}  // namespace

MPI_Comm bearer_of(MPI_Comm comm, int key) {
  constexpr std::array of_mpi{MPI_TAG_UB,        MPI_HOST,   MPI_IO,          MPI_WTIME_IS_GLOBAL,
                              MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE};
  const bool is_of_mpi = std::find(of_mpi.begin(), of_mpi.end(), key) != of_mpi.end();
  return is_of_mpi && is_derived(comm) ? MPI_COMM_WORLD : comm;
}

void note_key(int key, CopyAttribute copy) {
  const runtime::MutexLock lock(tables().mutex);
  tables().keys[key] = std::move(copy);
}

void note_attribute(MPI_Comm comm, int key) {
  const runtime::MutexLock lock(tables().mutex);
  std::vector<int>& keys = tables().set[comm];
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
}

bool is_made_for_library(MPI_Comm of, const MPI_Comm* handle) {
  constexpr std::uintptr_t bytes_looked_at = 64;  // of what an attribute points to
  for (const int key : keys_of(of)) {
    const auto value = value_of(of, key);
    const auto begin = reinterpret_cast<std::uintptr_t>(value.value_or(nullptr));
    const auto at = reinterpret_cast<std::uintptr_t>(handle);
    if (value && at >= begin && at - begin < bytes_looked_at) return true;
  }
  return false;
}

int copy_attributes(MPI_Comm from, MPI_Comm to) {
  for (const int key : keys_of(from))
    if (const CopyAttribute copy = copy_of(key); copy)
      if (const int code = copy(from, to, key); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

// The last one set goes first.
int delete_attributes(MPI_Comm comm) {
  std::vector<int> keys = keys_of(comm);
  for (; !keys.empty(); keys.pop_back()) {
    if (!value_of(comm, keys.back())) continue;
    if (const int code = PMPI_Comm_delete_attr(comm, keys.back()); code != MPI_SUCCESS) return code;
  }
  const runtime::MutexLock lock(tables().mutex);
  tables().set.erase(comm);  // another communicator may get its handle
  return MPI_SUCCESS;
}

void note_copied_attributes(MPI_Comm from, MPI_Comm to) {
  if (to == MPI_COMM_NULL) return;
  for (const int key : keys_of(from))
    if (value_of(to, key)) note_attribute(to, key);
}

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy,
                                      MPI_Comm_delete_attr_function* remove, int* keyval,
                                      void* extra_state) {
  const int code = PMPI_Comm_create_keyval(copy, remove, keyval, extra_state);
  if (code == MPI_SUCCESS)
    note_key(*keyval, [copy, extra_state](MPI_Comm from, MPI_Comm to, int key) {
      return copy_attribute(copy, extra_state, from, to, key);
    });
  return code;
}

extern "C" int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* is_set) {
  return PMPI_Comm_get_attr(bearer_of(comm, keyval), keyval, value, is_set);
}

extern "C" int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  const int code = PMPI_Comm_set_attr(comm, keyval, value);
  if (code == MPI_SUCCESS) note_attribute(comm, keyval);
  return code;
}

// The names of MPI-1, which newer libraries and headers no longer have.
#undef MPI_Keyval_create
#undef MPI_Attr_get
#undef MPI_Attr_put
#undef PMPI_Keyval_create
#undef PMPI_Attr_get
#undef PMPI_Attr_put
extern "C" {
[[gnu::weak]] int PMPI_Keyval_create(MPI_Comm_copy_attr_function* copy,
                                     MPI_Comm_delete_attr_function* remove, int* keyval,
                                     void* extra_state);
[[gnu::weak]] int PMPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* is_set);
[[gnu::weak]] int PMPI_Attr_put(MPI_Comm comm, int keyval, void* value);
}

extern "C" int MPI_Keyval_create(MPI_Comm_copy_attr_function* copy,
                                 MPI_Comm_delete_attr_function* remove, int* keyval,
                                 void* extra_state) {
  if (World::current() == nullptr && PMPI_Keyval_create != nullptr)
    return PMPI_Keyval_create(copy, remove, keyval, extra_state);
  return MPI_Comm_create_keyval(copy, remove, keyval, extra_state);
}

extern "C" int MPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* is_set) {
  if (World::current() == nullptr && PMPI_Attr_get != nullptr)
    return PMPI_Attr_get(comm, keyval, value, is_set);
  return MPI_Comm_get_attr(comm, keyval, value, is_set);
}

extern "C" int MPI_Attr_put(MPI_Comm comm, int keyval, void* value) {
  if (World::current() == nullptr && PMPI_Attr_put != nullptr)
    return PMPI_Attr_put(comm, keyval, value);
  return MPI_Comm_set_attr(comm, keyval, value);
}

#include "shim/remade/attributes.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace resprout::shim {
namespace {

struct Key {
  MPI_Comm_copy_attr_function* copy = MPI_COMM_NULL_COPY_FN;
  void* extra = nullptr;
};

// Never destroyed: programs may set attributes as late as they like.
struct Tables {
  std::mutex mutex;
  std::map<int, Key> keys;
  std::map<MPI_Comm, std::vector<int>> set;  // the keys that a communicator has
};

Tables& tables() {
  static auto* instance = new Tables;
  return *instance;
}

void note_key(int key, MPI_Comm_copy_attr_function* copy, void* extra) {
  const std::scoped_lock lock(tables().mutex);
  tables().keys[key] = {copy, extra};
}

void note_set(MPI_Comm comm, int key) {
  const std::scoped_lock lock(tables().mutex);
  std::vector<int>& keys = tables().set[comm];
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
}

std::vector<int> keys_of(MPI_Comm comm) {
  const std::scoped_lock lock(tables().mutex);
  const auto it = tables().set.find(comm);
  return it != tables().set.end() ? it->second : std::vector<int>();
}

Key key_of(int number) {
  const std::scoped_lock lock(tables().mutex);
  const auto it = tables().keys.find(number);
  return it != tables().keys.end() ? it->second : Key();
}

int copy_attribute(MPI_Comm from, MPI_Comm to, int number) {
  const Key key = key_of(number);
  void* value = nullptr;
  int is_set = 0;
  PMPI_Comm_get_attr(from, number, &value, &is_set);
  if (is_set == 0 || key.copy == MPI_COMM_NULL_COPY_FN) return MPI_SUCCESS;
  void* copied = value;
  int is_copied = 1;
  if (key.copy != MPI_COMM_DUP_FN) {
    const int code = key.copy(from, number, key.extra, value, &copied, &is_copied);
    if (code != MPI_SUCCESS) return code;
  }
  if (is_copied == 0) return MPI_SUCCESS;
  note_set(to, number);
  return PMPI_Comm_set_attr(to, number, copied);
}

}  // namespace

int copy_attributes(MPI_Comm from, MPI_Comm to) {
  for (const int key : keys_of(from))
    if (const int code = copy_attribute(from, to, key); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

// The last one set goes first.
int delete_attributes(MPI_Comm comm) {
  std::vector<int> keys = keys_of(comm);
  for (; !keys.empty(); keys.pop_back()) {
    void* value = nullptr;
    int is_set = 0;
    PMPI_Comm_get_attr(comm, keys.back(), &value, &is_set);
    if (is_set == 0) continue;
    if (const int code = PMPI_Comm_delete_attr(comm, keys.back()); code != MPI_SUCCESS) return code;
  }
  const std::scoped_lock lock(tables().mutex);
  tables().set.erase(comm);
  return MPI_SUCCESS;
}

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy,
                                      MPI_Comm_delete_attr_function* remove, int* keyval,
                                      void* extra_state) {
  const int code = PMPI_Comm_create_keyval(copy, remove, keyval, extra_state);
  if (code == MPI_SUCCESS) note_key(*keyval, copy, extra_state);
  return code;
}

extern "C" int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  const int code = PMPI_Comm_set_attr(comm, keyval, value);
  if (code == MPI_SUCCESS) note_set(comm, keyval);
  return code;
}

// The names of MPI-1, which newer libraries and headers no longer have.
#undef MPI_Keyval_create
#undef MPI_Attr_put
extern "C" int MPI_Keyval_create(MPI_Comm_copy_attr_function* copy,
                                 MPI_Comm_delete_attr_function* remove, int* keyval,
                                 void* extra_state) {
  return MPI_Comm_create_keyval(copy, remove, keyval, extra_state);
}

extern "C" int MPI_Attr_put(MPI_Comm comm, int keyval, void* value) {
  return MPI_Comm_set_attr(comm, keyval, value);
}

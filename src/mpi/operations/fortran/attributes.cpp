// Attributes in Fortran. Their keys have functions in Fortran and their values are integers, both
// of which only the MPI library's Fortran form knows how to store: it is called, and what it has
// done is noted for communicators that MPI neither duplicates nor frees
// (handles/communicators/attributes.hpp).
#include "mpi/handles/communicators/attributes.hpp"

#include <dlfcn.h>

#include "mpi/operations/fortran/arguments.hpp"
#include "mpi/operations/fortran/names.hpp"

#ifdef OPEN_MPI

using namespace resprout::shim;
using namespace resprout::shim::fortran;

namespace {

// MPI-1 had INTEGER values, MPI-2 those of address size.
template <typename Value>
using Copy = void(const MPI_Fint* oldcomm, const MPI_Fint* key, const Value* extra, const Value* in,
                  Value* out, MPI_Fint* flag, MPI_Fint* ierror);
using Delete = void();
template <typename Value>
using CreateKey = void(Copy<Value>*, Delete*, MPI_Fint* key, const Value* extra, MPI_Fint* ierror);
template <typename Value>
using Set = void(const MPI_Fint* comm, const MPI_Fint* key, const Value* value, MPI_Fint* ierror);
template <typename Value>
using Get = void(const MPI_Fint* comm, const MPI_Fint* key, Value* value, MPI_Fint* flag,
                 MPI_Fint* ierror);

// Null: there is none. The library may have been loaded by a module, for nobody else to see.
template <typename Function>
Function* in_library(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr)
    if (void* library = dlopen("libmpi_mpifh.so.40", RTLD_LAZY | RTLD_NOLOAD); library != nullptr) {
      found = dlsym(library, name);
      dlclose(library);
    }
  return reinterpret_cast<Function*>(found);
}

struct Names {
  const char* create_key;
  const char* set;
  const char* get;
};
constexpr Names mpi_1 = {"mpi_keyval_create_", "mpi_attr_put_", "mpi_attr_get_"};
constexpr Names mpi_2 = {"mpi_comm_create_keyval_", "mpi_comm_set_attr_", "mpi_comm_get_attr_"};

template <typename Value>
int set(const Names& names, const MPI_Fint* comm, const MPI_Fint* key, const Value* value) {
  MPI_Fint code = MPI_ERR_UNSUPPORTED_OPERATION;
  if (auto* const native = in_library<Set<Value>>(names.set); native != nullptr)
    native(comm, key, value, &code);
  if (code == MPI_SUCCESS) note_attribute(PMPI_Comm_f2c(*comm), *key);
  return code;
}

template <typename Value>
int get(const Names& names, const MPI_Fint* comm, const MPI_Fint* key, Value* value,
        MPI_Fint* flag) {
  const MPI_Fint bearer = PMPI_Comm_c2f(bearer_of(PMPI_Comm_f2c(*comm), *key));
  MPI_Fint code = MPI_ERR_UNSUPPORTED_OPERATION;
  if (auto* const native = in_library<Get<Value>>(names.get); native != nullptr)
    native(&bearer, key, value, flag, &code);
  return code;
}

template <typename Value>
int copy(const Names& names, Copy<Value>* function, Value extra, MPI_Comm from, MPI_Comm to,
         MPI_Fint key) {
  auto* const get = in_library<Get<Value>>(names.get);
  if (get == nullptr) return MPI_ERR_UNSUPPORTED_OPERATION;
  const MPI_Fint old_comm = PMPI_Comm_c2f(from);
  const MPI_Fint new_comm = PMPI_Comm_c2f(to);
  Value value{};
  Value copied{};
  MPI_Fint flag = 0;
  MPI_Fint code = MPI_SUCCESS;
  get(&old_comm, &key, &value, &flag, &code);
  if (code != MPI_SUCCESS || flag == 0) return code;
  flag = 0;
  function(&old_comm, &key, &extra, &value, &copied, &flag, &code);
  if (code != MPI_SUCCESS || flag == 0) return code;
  return set(names, &new_comm, &key, &copied);
}

template <typename Value>
int create_key(const Names& names, Copy<Value>* function, Delete* remove, MPI_Fint* key,
               const Value* extra) {
  MPI_Fint code = MPI_ERR_UNSUPPORTED_OPERATION;
  if (auto* const native = in_library<CreateKey<Value>>(names.create_key); native != nullptr)
    native(function, remove, key, extra, &code);
  if (code == MPI_SUCCESS)
    note_key(*key, [&names, function, state = *extra](MPI_Comm from, MPI_Comm to, int number) {
      return copy(names, function, state, from, to, number);
    });
  return code;
}

}  // namespace

extern "C" void mpi_comm_create_keyval_(Copy<MPI_Aint>* function, Delete* remove, MPI_Fint* key,
                                        const MPI_Aint* extra, MPI_Fint* ierror) {
  give(ierror, create_key(mpi_2, function, remove, key, extra));
}
RESPROUT_FORTRAN_NAMES(mpi_comm_create_keyval, MPI_COMM_CREATE_KEYVAL, MPI_Comm_create_keyval)

extern "C" void mpi_comm_get_attr_(const MPI_Fint* comm, const MPI_Fint* key, MPI_Aint* value,
                                   MPI_Fint* flag, MPI_Fint* ierror) {
  give(ierror, get(mpi_2, comm, key, value, flag));
}
RESPROUT_FORTRAN_NAMES(mpi_comm_get_attr, MPI_COMM_GET_ATTR, MPI_Comm_get_attr)

extern "C" void mpi_comm_set_attr_(const MPI_Fint* comm, const MPI_Fint* key, const MPI_Aint* value,
                                   MPI_Fint* ierror) {
  give(ierror, set(mpi_2, comm, key, value));
}
RESPROUT_FORTRAN_NAMES(mpi_comm_set_attr, MPI_COMM_SET_ATTR, MPI_Comm_set_attr)

extern "C" void mpi_keyval_create_(Copy<MPI_Fint>* function, Delete* remove, MPI_Fint* key,
                                   const MPI_Fint* extra, MPI_Fint* ierror) {
  give(ierror, create_key(mpi_1, function, remove, key, extra));
}
RESPROUT_FORTRAN_NAMES(mpi_keyval_create, MPI_KEYVAL_CREATE, MPI_Keyval_create)

extern "C" void mpi_attr_get_(const MPI_Fint* comm, const MPI_Fint* key, MPI_Fint* value,
                              MPI_Fint* flag, MPI_Fint* ierror) {
  give(ierror, get(mpi_1, comm, key, value, flag));
}
RESPROUT_FORTRAN_NAMES(mpi_attr_get, MPI_ATTR_GET, MPI_Attr_get)

extern "C" void mpi_attr_put_(const MPI_Fint* comm, const MPI_Fint* key, const MPI_Fint* value,
                              MPI_Fint* ierror) {
  give(ierror, set(mpi_1, comm, key, value));
}
RESPROUT_FORTRAN_NAMES(mpi_attr_put, MPI_ATTR_PUT, MPI_Attr_put)

// Of a window, and only to be got: operations/rma/calls.cpp.
extern "C" void mpi_win_get_attr_(const MPI_Fint* win, const MPI_Fint* key, MPI_Aint* value,
                                  MPI_Fint* flag, MPI_Fint* ierror) {
  MPI_Fint code = MPI_ERR_UNSUPPORTED_OPERATION;
  auto* const native = in_library<Get<MPI_Aint>>("mpi_win_get_attr_");
  if (native != nullptr) native(win, key, value, flag, &code);
  if (code == MPI_SUCCESS && *flag != 0 && *key == MPI_WIN_CREATE_FLAVOR) {
    int* flavor = nullptr;
    int is_found = 0;
    MPI_Win_get_attr(PMPI_Win_f2c(*win), MPI_WIN_CREATE_FLAVOR, static_cast<void*>(&flavor),
                     &is_found);
    if (is_found != 0) *value = *flavor;
  }
  give(ierror, code);
}
RESPROUT_FORTRAN_NAMES(mpi_win_get_attr, MPI_WIN_GET_ATTR, MPI_Win_get_attr)

#endif

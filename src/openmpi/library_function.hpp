// Functions of the MPI library's that are no part of MPI: they may be missing.
#pragma once

#include <dlfcn.h>

namespace resprout::shim {

// False: it has none of that name.
template <typename Function>
bool find_in_library(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

}  // namespace resprout::shim

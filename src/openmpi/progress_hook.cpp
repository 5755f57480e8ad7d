#include "openmpi/progress_hook.hpp"

#include <dlfcn.h>

namespace resprout::shim {
namespace {

using Registration = int (*)(ProgressHook);

Registration find(const char* name) {
  return reinterpret_cast<Registration>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

bool add_progress_hook(ProgressHook hook, Rounds rounds) {
  const Registration add =
      find(rounds == Rounds::all ? "opal_progress_register" : "opal_progress_register_lp");
  return add != nullptr && find("opal_progress_unregister") != nullptr && add(hook) == 0;
}

void remove_progress_hook(ProgressHook hook) {
  if (const Registration remove = find("opal_progress_unregister")) remove(hook);
}

}  // namespace resprout::shim

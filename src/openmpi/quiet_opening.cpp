#include "openmpi/quiet_opening.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

namespace resprout::shim {
namespace {

// How Open MPI 5.0 says what needs more than a line: through a pointer, so that who starts a job
// can gather it.
using ShowHelp = int (*)(const char* file, const char* topic, int wants_frame, ...);
using HelpText = char* (*)(const char* file, const char* topic, int wants_frame, std::va_list);

struct Help {
  std::mutex mutex;
  int openings = 0;
  ShowHelp* shown_by = nullptr;  // null: this MPI has no such thing
  HelpText text_of = nullptr;
  ShowHelp of_mpi = nullptr;
};

// It is the pointer that it was in 5.0, and not a function of that name.
bool is_variable(void* address) {
  Dl_info where{};
  void* symbol = nullptr;
  const int is_found = dladdr1(address, &where, &symbol, RTLD_DL_SYMENT);
  return is_found != 0 && symbol != nullptr &&
         ELF64_ST_TYPE(static_cast<const ElfW(Sym)*>(symbol)->st_info) == STT_OBJECT;
}

Help& help() {
  static auto* instance = new Help;
  return *instance;
}

int show_but_that(const char* file, const char* topic, int wants_frame, ...) {
  if (std::strcmp(topic, "module:untested:failundef") == 0) return 0;
  std::va_list more;
  va_start(more, wants_frame);
  const std::unique_ptr<char, void (*)(void*)> text(help().text_of(file, topic, wants_frame, more),
                                                    std::free);
  va_end(more);
  if (text != nullptr) std::fputs(text.get(), stderr);
  return 0;
}

}  // namespace

QuietOpening::QuietOpening() {
  const std::lock_guard guard(help().mutex);
  if (help().openings++ > 0) return;
  void* const pointer = dlsym(RTLD_DEFAULT, "opal_show_help");
  help().shown_by = is_variable(pointer) ? static_cast<ShowHelp*>(pointer) : nullptr;
  help().text_of = reinterpret_cast<HelpText>(dlsym(RTLD_DEFAULT, "opal_show_help_vstring"));
  if (help().shown_by == nullptr || help().text_of == nullptr) return;
  help().of_mpi = *help().shown_by;
  *help().shown_by = show_but_that;
}

QuietOpening::~QuietOpening() {
  const std::lock_guard guard(help().mutex);
  if (--help().openings > 0 || help().of_mpi == nullptr) return;
  *help().shown_by = help().of_mpi;
  help().of_mpi = nullptr;
}

}  // namespace resprout::shim

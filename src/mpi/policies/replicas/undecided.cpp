#include "mpi/policies/replicas/undecided.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "mpi/policies/replicas/program_calls.hpp"
#include "mpi/process/report/json.hpp"
#include "mpi/process/report/notes.hpp"

namespace resprout::shim {
namespace {

// Never destroyed: the program's last calls come late.
std::atomic<Notes*> undecided_notes{nullptr};

template <typename Function>
Function* of_python(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// Python's lock, which a thread gives back before it asks the system.
class PythonLock {
 public:
  PythonLock() : state_(ensure()) {}
  ~PythonLock() { of_python<void(int)>("PyGILState_Release")(state_); }
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;

  static bool is_for_this_thread() {
    auto* is_running = of_python<int()>("Py_IsInitialized");
    auto* state_of_thread = of_python<void*()>("PyGILState_GetThisThreadState");
    if (is_running == nullptr || state_of_thread == nullptr) return false;
    return is_running() != 0 && state_of_thread() != nullptr;
  }

 private:
  static int ensure() { return of_python<int()>("PyGILState_Ensure")(); }

  const int state_;
};

// The line of a script that this thread is in; empty if it is in none.
std::string line_of_python() {
  auto* frame_of_thread = of_python<void*()>("PyEval_GetFrame");
  auto* line_of = of_python<int(void*)>("PyFrame_GetLineNumber");
  auto* code_of = of_python<void*(void*)>("PyFrame_GetCode");
  auto* attribute_of = of_python<void*(void*, const char*)>("PyObject_GetAttrString");
  auto* text_of = of_python<const char*(void*)>("PyUnicode_AsUTF8");
  auto* release = of_python<void(void*)>("Py_DecRef");
  if (frame_of_thread == nullptr || line_of == nullptr || code_of == nullptr ||
      attribute_of == nullptr || text_of == nullptr || release == nullptr ||
      !PythonLock::is_for_this_thread())
    return {};
  const PythonLock lock;
  void* const frame = frame_of_thread();
  if (frame == nullptr) return {};
  std::string line;
  void* const code = code_of(frame);
  if (void* const file = attribute_of(code, "co_filename")) {
    if (const char* name = text_of(file)) line = name;
    release(file);
  }
  release(code);
  return line.empty() ? line : line + ':' + std::to_string(line_of(frame));
}

std::string place_of(const void* caller) {
  if (std::string line = line_of_python(); !line.empty()) return line;
  Dl_info where{};
  if (dladdr(caller, &where) == 0 || where.dli_fname == nullptr) return {};
  char offset[32];
  const auto begin = reinterpret_cast<std::uintptr_t>(where.dli_fbase);
  snprintf(offset, sizeof offset, "+0x%" PRIxPTR, reinterpret_cast<std::uintptr_t>(caller) - begin);
  std::string place = std::string(where.dli_fname) + offset;
  return where.dli_sname == nullptr ? place : place + " (" + where.dli_sname + ")";
}

}  // namespace

void begin_undecided() {
  const char* directory = getenv("RESPROUT_RUN_DIR");
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (directory == nullptr || rank == nullptr || undecided_notes.load() != nullptr) return;
  undecided_notes.store(new Notes(directory, static_cast<int>(std::strtol(rank, nullptr, 10))));
}

void Undecided::leave_note(const void* caller) {
  Notes* notes = undecided_notes.load();
  if (notes == nullptr || !is_program(caller) || real_pid() != program_pid()) return;
  if (is_noted_.exchange(true)) return;
  Json json;
  json.begin_object().key("call").string(call_).key("where").string(place_of(caller)).end_object();
  notes->add("undecided", json);
}

void note_openmp() {
  static constinit Undecided sums("OpenMP");
  auto* threads_max = of_python<int()>("omp_get_max_threads");
  static const void* const entry = dlsym(RTLD_DEFAULT, "main");
  if (threads_max != nullptr && threads_max() > 1) sums.note(entry);
}

}  // namespace resprout::shim

using namespace resprout::shim;

// Names that C's library makes up, of a random number that it has itself.
// NOLINTBEGIN(bugprone-macro-parentheses): what is declared cannot stand in any.
#define RESPROUT_UNDECIDED(type, name, parameters, types, arguments) \
  extern "C" type name parameters {                                  \
    static std::atomic<type(*) types> found{nullptr};                \
    static constinit Undecided call(#name);                          \
    call.note(RESPROUT_CALLER);                                      \
    return behind(found, #name) arguments;                           \
  }
// NOLINTEND(bugprone-macro-parentheses)

RESPROUT_UNDECIDED(char*, mkdtemp, (char* name), (char*), (name))
RESPROUT_UNDECIDED(int, mkstemp, (char* name), (char*), (name))
RESPROUT_UNDECIDED(int, mkstemp64, (char* name), (char*), (name))
RESPROUT_UNDECIDED(int, mkostemp, (char* name, int flags), (char*, int), (name, flags))
RESPROUT_UNDECIDED(int, mkstemps, (char* name, int end), (char*, int), (name, end))

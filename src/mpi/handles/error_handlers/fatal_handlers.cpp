#include "mpi/handles/error_handlers/fatal_handlers.hpp"

#include <array>
#include <cstddef>

#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/wrappings.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {
namespace {

void end_for(int code, const char* on) {
  if (is_loss(code)) note_loss_in_library();
  if (is_for_program(code)) end_job_for(code, on);
}

void handle_on_window(MPI_Win*, int* code, ...) { end_for(*code, "a window"); }
void handle_on_file(MPI_File*, int* code, ...) { end_for(*code, "a file"); }

// Those that MPI has. What stands in the place of each is a handler of its own, so that the program
// gets the one that it has set.
const std::array fatal_handlers = {
    MPI_ERRORS_ARE_FATAL,
#ifdef MPI_ERRORS_ABORT
    MPI_ERRORS_ABORT,
#endif
};
using Substitutes = std::array<MPI_Errhandler, std::tuple_size_v<decltype(fatal_handlers)>>;

const Substitutes& of_windows() {
  static const Substitutes handlers = [] {
    Substitutes made{};
    for (MPI_Errhandler& one : made) PMPI_Win_create_errhandler(handle_on_window, &one);
    return made;
  }();
  return handlers;
}

const Substitutes& of_files() {
  static const Substitutes handlers = [] {
    Substitutes made{};
    for (MPI_Errhandler& one : made) PMPI_File_create_errhandler(handle_on_file, &one);
    return made;
  }();
  return handlers;
}

// What stands in the place of one that the program sets; itself, if it is not fatal.
MPI_Errhandler substitute_for(MPI_Errhandler set, const Substitutes& substitutes) {
  for (std::size_t i = 0; i < substitutes.size(); ++i)
    if (set == fatal_handlers[i]) return substitutes[i];
  return set;
}

// What the program is to see of one that was got.
MPI_Errhandler as_set(MPI_Errhandler got, const Substitutes& substitutes) {
  for (std::size_t i = 0; i < substitutes.size(); ++i) {
    if (got != substitutes[i]) continue;
    PMPI_Errhandler_free(&got);
    return reference_to(fatal_handlers[i]);
  }
  return got;
}

}  // namespace

void replace_fatal_handler(MPI_Win window) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Win_get_errhandler(window, &handler);
  PMPI_Win_set_errhandler(window, substitute_for(handler, of_windows()));
  PMPI_Errhandler_free(&handler);
}

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  if (World::current() == nullptr) return PMPI_Win_set_errhandler(win, errhandler);
  return PMPI_Win_set_errhandler(win, substitute_for(errhandler, of_windows()));
}

extern "C" int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  const int code = PMPI_Win_get_errhandler(win, errhandler);
  if (code == MPI_SUCCESS && World::current() != nullptr)
    *errhandler = as_set(*errhandler, of_windows());
  return code;
}

// Of MPI_FILE_NULL: what files are opened with.
extern "C" int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  if (World::current() == nullptr) return PMPI_File_set_errhandler(file, errhandler);
  return PMPI_File_set_errhandler(file, substitute_for(errhandler, of_files()));
}

extern "C" int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  const int code = PMPI_File_get_errhandler(file, errhandler);
  if (code == MPI_SUCCESS && World::current() != nullptr)
    *errhandler = as_set(*errhandler, of_files());
  return code;
}

#include "mpi/handles/error_handlers/fatal_handlers.hpp"

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

MPI_Errhandler of_windows() {
  static const MPI_Errhandler handler = [] {
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    PMPI_Win_create_errhandler(handle_on_window, &made);
    return made;
  }();
  return handler;
}

MPI_Errhandler of_files() {
  static const MPI_Errhandler handler = [] {
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    PMPI_File_create_errhandler(handle_on_file, &made);
    return made;
  }();
  return handler;
}

// What the program is to see of one that was got.
MPI_Errhandler as_set(MPI_Errhandler got, MPI_Errhandler ours) {
  if (got != ours) return got;
  PMPI_Errhandler_free(&got);
  return reference_to(MPI_ERRORS_ARE_FATAL);
}

}  // namespace

void replace_fatal_handler(MPI_Win window) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Win_get_errhandler(window, &handler);
  if (is_fatal(handler)) PMPI_Win_set_errhandler(window, of_windows());
  PMPI_Errhandler_free(&handler);
}

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  const bool is_replaced = World::current() != nullptr && is_fatal(errhandler);
  return PMPI_Win_set_errhandler(win, is_replaced ? of_windows() : errhandler);
}

extern "C" int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  const int code = PMPI_Win_get_errhandler(win, errhandler);
  if (code == MPI_SUCCESS && World::current() != nullptr)
    *errhandler = as_set(*errhandler, of_windows());
  return code;
}

// Of MPI_FILE_NULL: what files are opened with.
extern "C" int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  const bool is_replaced = World::current() != nullptr && is_fatal(errhandler);
  return PMPI_File_set_errhandler(file, is_replaced ? of_files() : errhandler);
}

extern "C" int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  const int code = PMPI_File_get_errhandler(file, errhandler);
  if (code == MPI_SUCCESS && World::current() != nullptr)
    *errhandler = as_set(*errhandler, of_files());
  return code;
}

// The files of this plane, where planes of replicas have files of their own (shadows.hpp).
//
// Thread rule: as MPI's own that open files.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

#include "mpi/policies/files/shadows.hpp"

namespace resprout::shim {

// Those of this process. Nothing: it is no replica, and files are as the program says.
std::optional<Shadows> shadows();

// It is opened to be written, or to be removed when it is closed.
inline bool is_written(int amode) {
  constexpr int writing = MPI_MODE_WRONLY | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  return (amode & writing) != 0;
}

// Where this plane has the file, as one process finds out: there where the program says if this is
// no replica. What is wrong is said on stderr.
Shadows::Place place_of(const char* filename, int amode);
// This plane has opened it there.
void note_open(const char* filename, int amode, const Shadows::Place& place);
// How often this process, alone, has begun to write the file or removed it: the same in all planes
// at the same place of the program.
std::uint64_t times_alone(const std::string& filename);
// What rank `world_rank`, which this plane has lost, has done alone to the file in other planes up
// to that time is done here, too; or this process ends. 0, or errno. REQUIRES: siblings stand in.
int catch_up(const std::string& filename, int world_rank, std::uint64_t up_to);

// No file can be had beside it: said on stderr. `error`: errno.
void tell_of_no_file(const char* name, int error);
// This process, alone, begins to write it or removes it: how often it has.
std::uint64_t next_time(const char* filename);
// The MPI library has opened it for all of `comm`; the first one says so.
void note_written_file(MPI_File fh, MPI_Comm comm, const char* filename, int amode);
// As PMPI_File_close, of such a file or any other.
int close_written_file(MPI_File* fh);
// Who opens a file without others cannot know how far a lost rank would have come: ends this
// process if that has come further in other planes.
void end_if_behind(const char* filename);

}  // namespace resprout::shim

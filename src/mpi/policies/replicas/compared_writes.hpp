// What a process writes to files through MPI is compared with its replicas (--verify), before
// others may see it: in MPI_File_sync and MPI_File_close.
//
// Of all that it has written to a file since the time before, the data count and, as far as all
// planes have the same, the places: not where a shared pointer stood. It is compared as what a
// collective has left (policies/replicas/compared.hpp): each plane has a file of its own
// (shadows.hpp), so a process that differs has spoiled that of its plane, which two others
// out-vote.
//
// Nothing is read back: what the MPI library and the system make of it is not compared.
//
// Thread rule: as MPI's own of calls on one file; of several files from any thread.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <unordered_map>

namespace resprout::shim {

// All of `comm` have opened it to write. Nothing where nothing is compared.
void begin_comparing_writes(MPI_File fh, MPI_Comm comm);

// Before MPI has them. Of a file that is not compared nothing.
struct WrittenData {
  const void* buffer = nullptr;
  int count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
};
// At the `at`-th element of the view.
void note_write_at(MPI_File fh, MPI_Offset at, const WrittenData& data);
// Where its own pointer stands.
void note_write_here(MPI_File fh, const WrittenData& data);
// Where the shared pointer stands.
void note_write_somewhere(MPI_File fh, const WrittenData& data);
// The file has that size from here on.
void note_new_size(MPI_File fh, MPI_Offset size);

// With an eager method returns when it is verified. `call`: the lower-case MPI name, a string
// literal.
void compare_writes(MPI_File fh, const char* call);
// As compare_writes, for a handle that is about to be closed: afterwards nothing is known of it.
void end_comparing_writes(MPI_File fh, const char* call);

// What was written to each file since it was compared last, for a program that goes back.
struct WriteSum {
  std::uint64_t digest = 0;  // a sum, as threads may write in any order
  std::uint64_t bytes = 0;
};
using WriteSums = std::unordered_map<MPI_File, WriteSum>;
WriteSums write_sums();
void set_write_sums(const WriteSums& sums);
// A plane has come back, and has not written what the others have: it is not compared.
void forget_write_sums();

}  // namespace resprout::shim

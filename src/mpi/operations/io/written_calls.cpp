// The calls that write to a file: what is written is compared with replicas (compared_writes.hpp),
// and of a file that is open apart it may be that others have to write the same for this process;
// and the calls from which on members may read what others have written. The file itself is written
// and read by MPI's own (account.hpp says what for).
#include <utility>

#include "mpi/operations/guarded_call.hpp"
#include "mpi/operations/io/apart.hpp"
#include "mpi/policies/replicas/compared_writes.hpp"

using namespace resprout::shim;

namespace {

// `name`: the lower-case MPI name, of a call that writes `data`.
template <typename Native>
int noted_at(MPI_File fh, const char* name, MPI_Offset at, const WrittenData& data,
             const Native& native) {
  const GuardedCall call(name);
  note_write_at(fh, at, data);
  if (const auto apart = apart_of(fh)) apart->note_written(at, data.count, data.datatype);
  return native();
}

template <typename Native>
int noted_here(MPI_File fh, const char* name, const WrittenData& data, const Native& native) {
  const GuardedCall call(name);
  note_write_here(fh, data);
  if (const auto apart = apart_of(fh)) apart->note_written(fh, data.count, data.datatype);
  return native();
}

// Collective: first all is there that others have written.
template <typename Native>
int settled(MPI_File fh, const char* name, const Native& native) {
  const GuardedCall call(name);
  const auto apart = apart_of(fh);
  const int code = apart ? apart->settle(fh, name) : MPI_SUCCESS;
  return code == MPI_SUCCESS ? native() : code;
}

}  // namespace

// Before others write for who is lost: who is found to be wrong is one of them.
extern "C" int MPI_File_sync(MPI_File fh) {
  compare_writes(fh, "file_sync");
  return settled(fh, "file_sync", [&] { return PMPI_File_sync(fh); });
}

extern "C" int MPI_File_write(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                              MPI_Status* status) {
  return noted_here(fh, "file_write", {buf, count, datatype},
                    [&] { return PMPI_File_write(fh, buf, count, datatype, status); });
}

extern "C" int MPI_File_write_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                                 MPI_Datatype datatype, MPI_Status* status) {
  return noted_at(fh, "file_write_at", offset, {buf, count, datatype},
                  [&] { return PMPI_File_write_at(fh, offset, buf, count, datatype, status); });
}

extern "C" int MPI_File_write_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                                  MPI_Status* status) {
  return noted_here(fh, "file_write_all", {buf, count, datatype},
                    [&] { return PMPI_File_write_all(fh, buf, count, datatype, status); });
}

extern "C" int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                                     MPI_Datatype datatype, MPI_Status* status) {
  return noted_at(fh, "file_write_at_all", offset, {buf, count, datatype},
                  [&] { return PMPI_File_write_at_all(fh, offset, buf, count, datatype, status); });
}

extern "C" int MPI_File_write_all_begin(MPI_File fh, const void* buf, int count,
                                        MPI_Datatype datatype) {
  return noted_here(fh, "file_write_all_begin", {buf, count, datatype},
                    [&] { return PMPI_File_write_all_begin(fh, buf, count, datatype); });
}

extern "C" int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void* buf,
                                           int count, MPI_Datatype datatype) {
  return noted_at(fh, "file_write_at_all_begin", offset, {buf, count, datatype},
                  [&] { return PMPI_File_write_at_all_begin(fh, offset, buf, count, datatype); });
}

extern "C" int MPI_File_iwrite(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                               MPI_Request* request) {
  return noted_here(fh, "file_iwrite", {buf, count, datatype},
                    [&] { return PMPI_File_iwrite(fh, buf, count, datatype, request); });
}

extern "C" int MPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                                  MPI_Datatype datatype, MPI_Request* request) {
  return noted_at(fh, "file_iwrite_at", offset, {buf, count, datatype},
                  [&] { return PMPI_File_iwrite_at(fh, offset, buf, count, datatype, request); });
}

extern "C" int MPI_File_iwrite_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                                   MPI_Request* request) {
  return noted_here(fh, "file_iwrite_all", {buf, count, datatype},
                    [&] { return PMPI_File_iwrite_all(fh, buf, count, datatype, request); });
}

extern "C" int MPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                                      MPI_Datatype datatype, MPI_Request* request) {
  return noted_at(fh, "file_iwrite_at_all", offset, {buf, count, datatype}, [&] {
    return PMPI_File_iwrite_at_all(fh, offset, buf, count, datatype, request);
  });
}

extern "C" int MPI_File_read_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                                 MPI_Status* status) {
  return settled(fh, "file_read_all",
                 [&] { return PMPI_File_read_all(fh, buf, count, datatype, status); });
}

extern "C" int MPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count,
                                    MPI_Datatype datatype, MPI_Status* status) {
  return settled(fh, "file_read_at_all",
                 [&] { return PMPI_File_read_at_all(fh, offset, buf, count, datatype, status); });
}

extern "C" int MPI_File_read_all_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  return settled(fh, "file_read_all_begin",
                 [&] { return PMPI_File_read_all_begin(fh, buf, count, datatype); });
}

extern "C" int MPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void* buf, int count,
                                          MPI_Datatype datatype) {
  return settled(fh, "file_read_at_all_begin",
                 [&] { return PMPI_File_read_at_all_begin(fh, offset, buf, count, datatype); });
}

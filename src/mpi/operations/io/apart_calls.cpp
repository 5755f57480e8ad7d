// The calls on a file that is open apart (apart.hpp) and that MPI's own, which knows of one
// process, would not do right. All others are MPI's own.
#include <utility>

#include "mpi/operations/guarded_call.hpp"
#include "mpi/operations/io/apart.hpp"
#include "mpi/policies/replicas/compared_writes.hpp"

using namespace resprout::shim;

namespace {

// `name`: the lower-case MPI name; `native`: MPI's own call; `apart`: what is done instead.
template <typename Native, typename OfApart>
int choose(MPI_File fh, const char* name, Native native, OfApart of_apart) {
  const GuardedCall call(name);
  const auto apart = apart_of(fh);
  return apart ? of_apart(*apart) : native();
}

// What the split collective has come to, whose beginning has done all of it.
int end_split(Apart& apart, MPI_Status* status) {
  const auto begun = std::exchange(apart.split, std::nullopt);
  if (!begun) return MPI_ERR_OTHER;
  if (status != MPI_STATUS_IGNORE) *status = begun->status;
  return begun->code;
}

int read_in_order(Apart& apart, MPI_File fh, const char* call, void* buf, int count,
                  MPI_Datatype datatype, MPI_Status* status) {
  if (const int code = apart.settle(fh, call); code != MPI_SUCCESS) return code;
  return apart.move_in_order(fh, call, count, datatype, [&](MPI_Offset at) {
    return PMPI_File_read_at(fh, at, buf, count, datatype, status);
  });
}

int write_in_order(Apart& apart, MPI_File fh, const char* call, const void* buf, int count,
                   MPI_Datatype datatype, MPI_Status* status) {
  return apart.move_in_order(fh, call, count, datatype, [&](MPI_Offset at) {
    apart.note_written(at, count, datatype);
    return PMPI_File_write_at(fh, at, buf, count, datatype, status);
  });
}

}  // namespace

extern "C" int MPI_File_get_group(MPI_File fh, MPI_Group* group) {
  const auto apart = apart_of(fh);
  return apart ? PMPI_Group_union(apart->group(), MPI_GROUP_EMPTY, group)
               : PMPI_File_get_group(fh, group);
}

extern "C" int MPI_File_get_amode(MPI_File fh, int* amode) {
  const auto apart = apart_of(fh);
  if (!apart) return PMPI_File_get_amode(fh, amode);
  *amode = apart->amode();
  return MPI_SUCCESS;
}

extern "C" int MPI_File_set_size(MPI_File fh, MPI_Offset size) {
  note_new_size(fh, size);
  const auto set = [&] { return PMPI_File_set_size(fh, size); };
  return choose(fh, "file_set_size", set, [&](Apart& apart) { return apart.by_one(fh, set); });
}

extern "C" int MPI_File_preallocate(MPI_File fh, MPI_Offset size) {
  const auto set = [&] { return PMPI_File_preallocate(fh, size); };
  return choose(fh, "file_preallocate", set, [&](Apart& apart) { return apart.by_one(fh, set); });
}

extern "C" int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype,
                                 MPI_Datatype filetype, const char* datarep, MPI_Info info) {
  const auto set = [&](MPI_Offset from) {
    return PMPI_File_set_view(fh, from, etype, filetype, datarep, info);
  };
  return choose(
      fh, "file_set_view", [&] { return set(disp); },
      [&](Apart& apart) { return apart.set_view(fh, disp, set); });
}

extern "C" int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  return choose(
      fh, "file_seek_shared", [&] { return PMPI_File_seek_shared(fh, offset, whence); },
      [&](Apart& apart) { return apart.seek_pointer(fh, offset, whence); });
}

extern "C" int MPI_File_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  return choose(
      fh, "file_get_position_shared", [&] { return PMPI_File_get_position_shared(fh, offset); },
      [&](Apart& apart) { return apart.pointer(fh, offset); });
}

extern "C" int MPI_File_read_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                                    MPI_Status* status) {
  return choose(
      fh, "file_read_shared",
      [&] { return PMPI_File_read_shared(fh, buf, count, datatype, status); },
      [&](Apart& apart) {
        return apart.move_pointer(fh, count, datatype, [&](MPI_Offset at) {
          return PMPI_File_read_at(fh, at, buf, count, datatype, status);
        });
      });
}

extern "C" int MPI_File_iread_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                                     MPI_Request* request) {
  return choose(
      fh, "file_iread_shared",
      [&] { return PMPI_File_iread_shared(fh, buf, count, datatype, request); },
      [&](Apart& apart) {
        return apart.move_pointer(fh, count, datatype, [&](MPI_Offset at) {
          return PMPI_File_iread_at(fh, at, buf, count, datatype, request);
        });
      });
}

extern "C" int MPI_File_write_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                                     MPI_Status* status) {
  note_write_somewhere(fh, {buf, count, datatype});
  return choose(
      fh, "file_write_shared",
      [&] { return PMPI_File_write_shared(fh, buf, count, datatype, status); },
      [&](Apart& apart) {
        apart.note_written_somewhere();
        return apart.move_pointer(fh, count, datatype, [&](MPI_Offset at) {
          return PMPI_File_write_at(fh, at, buf, count, datatype, status);
        });
      });
}

extern "C" int MPI_File_iwrite_shared(MPI_File fh, const void* buf, int count,
                                      MPI_Datatype datatype, MPI_Request* request) {
  note_write_somewhere(fh, {buf, count, datatype});
  return choose(
      fh, "file_iwrite_shared",
      [&] { return PMPI_File_iwrite_shared(fh, buf, count, datatype, request); },
      [&](Apart& apart) {
        apart.note_written_somewhere();
        return apart.move_pointer(fh, count, datatype, [&](MPI_Offset at) {
          return PMPI_File_iwrite_at(fh, at, buf, count, datatype, request);
        });
      });
}

extern "C" int MPI_File_read_ordered(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                                     MPI_Status* status) {
  return choose(
      fh, "file_read_ordered",
      [&] { return PMPI_File_read_ordered(fh, buf, count, datatype, status); },
      [&](Apart& apart) {
        return read_in_order(apart, fh, "file_read_ordered", buf, count, datatype, status);
      });
}

extern "C" int MPI_File_read_ordered_begin(MPI_File fh, void* buf, int count,
                                           MPI_Datatype datatype) {
  return choose(
      fh, "file_read_ordered_begin",
      [&] { return PMPI_File_read_ordered_begin(fh, buf, count, datatype); },
      [&](Apart& apart) {
        Apart::Split& split = apart.split.emplace();
        split.code = read_in_order(apart, fh, "file_read_ordered_begin", buf, count, datatype,
                                   &split.status);
        return split.code;
      });
}

extern "C" int MPI_File_read_ordered_end(MPI_File fh, void* buf, MPI_Status* status) {
  return choose(
      fh, "file_read_ordered_end", [&] { return PMPI_File_read_ordered_end(fh, buf, status); },
      [&](Apart& apart) { return end_split(apart, status); });
}

extern "C" int MPI_File_write_ordered(MPI_File fh, const void* buf, int count,
                                      MPI_Datatype datatype, MPI_Status* status) {
  note_write_somewhere(fh, {buf, count, datatype});
  return choose(
      fh, "file_write_ordered",
      [&] { return PMPI_File_write_ordered(fh, buf, count, datatype, status); },
      [&](Apart& apart) {
        return write_in_order(apart, fh, "file_write_ordered", buf, count, datatype, status);
      });
}

extern "C" int MPI_File_write_ordered_begin(MPI_File fh, const void* buf, int count,
                                            MPI_Datatype datatype) {
  note_write_somewhere(fh, {buf, count, datatype});
  return choose(
      fh, "file_write_ordered_begin",
      [&] { return PMPI_File_write_ordered_begin(fh, buf, count, datatype); },
      [&](Apart& apart) {
        Apart::Split& split = apart.split.emplace();
        split.code = write_in_order(apart, fh, "file_write_ordered_begin", buf, count, datatype,
                                    &split.status);
        return split.code;
      });
}

extern "C" int MPI_File_write_ordered_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return choose(
      fh, "file_write_ordered_end", [&] { return PMPI_File_write_ordered_end(fh, buf, status); },
      [&](Apart& apart) { return end_split(apart, status); });
}

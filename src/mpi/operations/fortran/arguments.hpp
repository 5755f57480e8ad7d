// What Fortran passes to MPI calls, and what the C forms get of it.
//
// Fortran passes addresses. Handles are integers, in C pointers; places in arrays are counted from
// 1; statuses are six integers; strings end with blanks, and how long they are comes behind the
// error code; what C has as special pointers (MPI_BOTTOM, MPI_IN_PLACE, ...) are variables of Open
// MPI's Fortran library. Default INTEGER and LOGICAL are as wide as an int.
//
// Invariant: an argument lives as long as the call. It is converted where it is made, and given
// back where it ends; what the call has not written keeps what it was.
// Thread rule: as MPI's own.
#pragma once

#include <mpi.h>

#include <algorithm>

#ifdef OPEN_MPI

#  include <cstddef>
#  include <string>
#  include <type_traits>
#  include <vector>

namespace resprout::shim::fortran {

static_assert(std::is_same_v<MPI_Fint, int>, "arrays of INTEGER are passed on as they are");

// mpi_f08 programs may leave out the error code.
inline void give(MPI_Fint* ierror, int code) {
  if (ierror != nullptr) *ierror = code;
}

void* buffer(void* address);
const int* weights(const MPI_Fint* address);
int* errcodes(MPI_Fint* address);

// A handle. Out: the C form says which; InOut: it may become another one.
template <typename C, C (*from_fortran)(MPI_Fint), MPI_Fint (*to_fortran)(C)>
struct Handle {
  class In {
   public:
    explicit In(const MPI_Fint* fortran) : c_(from_fortran(*fortran)) {}
    operator C() const { return c_; }

   private:
    C c_;
  };

  class Out {
   public:
    explicit Out(MPI_Fint* fortran) : fortran_(fortran) {}
    Out(const Out&) = delete;
    Out& operator=(const Out&) = delete;
    ~Out() {
      if (c_ != nullptr) *fortran_ = to_fortran(c_);
    }
    operator C*() { return &c_; }

   protected:
    Out(MPI_Fint* fortran, C c) : fortran_(fortran), c_(c) {}

   private:
    MPI_Fint* fortran_;
    C c_ = nullptr;
  };

  class InOut : public Out {
   public:
    explicit InOut(MPI_Fint* fortran) : Out(fortran, from_fortran(*fortran)) {}
  };
};

using Comm = Handle<MPI_Comm, PMPI_Comm_f2c, PMPI_Comm_c2f>;
using Datatype = Handle<MPI_Datatype, PMPI_Type_f2c, PMPI_Type_c2f>;
using Errhandler = Handle<MPI_Errhandler, PMPI_Errhandler_f2c, PMPI_Errhandler_c2f>;
using File = Handle<MPI_File, PMPI_File_f2c, PMPI_File_c2f>;
using Group = Handle<MPI_Group, PMPI_Group_f2c, PMPI_Group_c2f>;
using Info = Handle<MPI_Info, PMPI_Info_f2c, PMPI_Info_c2f>;
using Message = Handle<MPI_Message, PMPI_Message_f2c, PMPI_Message_c2f>;
using Op = Handle<MPI_Op, PMPI_Op_f2c, PMPI_Op_c2f>;
using Win = Handle<MPI_Win, PMPI_Win_f2c, PMPI_Win_c2f>;

// Requests that may complete: those that have become MPI_REQUEST_NULL, persistent ones stay. A
// negative number of them is none; the C form says what is wrong with it.
class Requests {
 public:
  Requests(MPI_Fint* fortran, MPI_Fint count);
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests();
  operator MPI_Request*() { return c_.data(); }

 private:
  MPI_Fint* fortran_;
  std::vector<MPI_Request> c_;
};

struct Request : Handle<MPI_Request, PMPI_Request_f2c, PMPI_Request_c2f> {
  class InOut : public Requests {
   public:
    explicit InOut(MPI_Fint* fortran) : Requests(fortran, 1) {}
  };
};

class Status {
 public:
  explicit Status(MPI_Fint* fortran);
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  ~Status();
  operator MPI_Status*() { return is_ignored_ ? MPI_STATUS_IGNORE : &c_; }

 private:
  MPI_Fint* fortran_;
  bool is_ignored_;
  MPI_Status c_;
};

class Statuses {
 public:
  Statuses(MPI_Fint* fortran, MPI_Fint count);
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;
  ~Statuses();
  operator MPI_Status*() { return is_ignored_ ? MPI_STATUSES_IGNORE : c_.data(); }

 private:
  MPI_Fint* fortran_;
  bool is_ignored_;
  std::vector<MPI_Status> c_;
};

// The place of a request in an array; MPI_UNDEFINED stays that.
class Index {
 public:
  explicit Index(MPI_Fint* fortran) : fortran_(fortran) {}
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;
  ~Index() { *fortran_ = c_ < 0 ? c_ : c_ + 1; }
  operator int*() { return &c_; }

 private:
  MPI_Fint* fortran_;
  int c_ = MPI_UNDEFINED;
};

// As many of them as the call says in `count`: none if it says nothing.
class Indices {
 public:
  Indices(MPI_Fint* fortran, MPI_Fint* count) : fortran_(fortran), count_(count) { *count = 0; }
  Indices(const Indices&) = delete;
  Indices& operator=(const Indices&) = delete;
  ~Indices() {
    for (int i = 0; i < *count_; ++i) ++fortran_[i];
  }
  operator int*() { return fortran_; }

 private:
  MPI_Fint* fortran_;
  const MPI_Fint* count_;
};

// How many blocks a call on `comm` names: one for each of its ranks, or of its remote group; one
// for each neighbor that something goes to, or comes from.
int processes_of(const MPI_Fint* comm);
int destinations_of(const MPI_Fint* comm);
int sources_of(const MPI_Fint* comm);

// One datatype for each block; none that belong to a buffer that is MPI_IN_PLACE: they are not
// significant, and may be anything.
class Datatypes {
 public:
  Datatypes(const MPI_Fint* fortran, int blocks, const void* buffer);
  operator const MPI_Datatype*() const { return c_.data(); }
  const std::vector<MPI_Datatype>& all() const { return c_; }

 private:
  std::vector<MPI_Datatype> c_;
};

// As these, but there for as long as the process: for calls that look at them when they have
// returned. Equal ones are there once.
const MPI_Datatype* kept_datatypes(const MPI_Fint* fortran, int blocks, const void* buffer);

// Without the blanks at its end.
class String {
 public:
  String(const char* fortran, int length);
  operator const char*() const { return c_.c_str(); }

 private:
  std::string c_;
};

// What MPI_Get_processor_name writes: filled up with blanks, or cut off.
class Name {
 public:
  Name(char* fortran, int length) : fortran_(fortran), length_(length) {}
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;
  ~Name();
  operator char*() { return c_; }

 private:
  char* fortran_;
  int length_;
  char c_[std::max(MPI_MAX_PROCESSOR_NAME, MPI_MAX_ERROR_STRING) + 1] = {};
};

}  // namespace resprout::shim::fortran

#endif

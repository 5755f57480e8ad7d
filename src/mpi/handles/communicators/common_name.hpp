// The session of a communicator that the MPI library has made without us, under a name that its
// members have in common: two of the same processes may be made by two threads at once, and may be
// used in another order by each process.
//
// Thread rule: from any thread of the program.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

namespace resprout::shim {

// Opens its session, if Resprout knows all of its members and they are of one group: they agree on
// a name, in the library and in the new communicator itself, as they have nothing else in common.
// So it is collective over them. MPI_SUCCESS, or what the library has said. REQUIRES: `made` is
// new, or MPI_COMM_NULL.
int open_by_common_name(MPI_Comm made);

// The same by the tag that the program tells its makings apart with (MPI_Comm_create_from_group).
// Open MPI 5.0 mixes up agreements on two that were made so. All members say so each time, in the
// same order for the same tag and members, also where it came to nothing.
class TaggedMaking {
 public:
  TaggedMaking(MPI_Group group, const char* tag);
  // Nothing: there is no tag, or no group.
  std::optional<std::uint64_t> name() const { return name_; }
  void open(MPI_Comm made) const;

 private:
  std::optional<std::uint64_t> name_;
};

}  // namespace resprout::shim

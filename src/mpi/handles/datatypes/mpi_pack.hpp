// MPI_Pack and MPI_Unpack of any number of elements, of any size.
//
// MPI counts packed bytes in an int. So elements are packed a part at a time, and one that is
// larger than that by itself is sent from here to here, as messages have no such bound.
//
// Thread rule: from any thread from which MPI may be called.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace resprout::shim {

// What MPI packs in one call.
inline constexpr std::size_t packed_at_once_max = std::numeric_limits<int>::max();

// `at_once`: bytes, at most packed_at_once_max. REQUIRES: `to` is as long as the elements are
// without gaps. Of a shorter `from` what it lacks is not written.
void pack_by_mpi(const void* buffer, std::int64_t count, MPI_Datatype datatype,
                 std::span<std::byte> to, std::size_t at_once = packed_at_once_max);
void unpack_by_mpi(std::span<const std::byte> from, void* buffer, std::int64_t count,
                   MPI_Datatype datatype, std::size_t at_once = packed_at_once_max);

// A datatype of which one element is so many bytes. What was started with it may go on when it is
// no more.
class PlainBytes {
 public:
  explicit PlainBytes(std::size_t bytes);
  ~PlainBytes();
  PlainBytes(const PlainBytes&) = delete;
  PlainBytes& operator=(const PlainBytes&) = delete;

  MPI_Datatype datatype() const { return datatype_; }

 private:
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
};

}  // namespace resprout::shim

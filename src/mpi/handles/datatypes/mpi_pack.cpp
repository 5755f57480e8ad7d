#include "mpi/handles/datatypes/mpi_pack.hpp"

#include <algorithm>
#include <atomic>

#include "mpi/handles/datatypes/type_facts.hpp"
#include "mpi/handles/errors/wrappings.hpp"

namespace resprout::shim {
namespace {

// An element of each. Several threads may be at it, and one of them again from inside of it: each
// message has a tag of its own.
void send_to_oneself(const void* from, MPI_Datatype sent, void* to, MPI_Datatype received) {
  static std::atomic<unsigned> last_tag{0};
  constexpr unsigned tags = 1 << 15;  // that every MPI has
  const auto tag = static_cast<int>(last_tag.fetch_add(1) % tags);
  PMPI_Sendrecv(from, 1, sent, 0, tag, to, 1, received, 0, tag, communicator_of_own(),
                MPI_STATUS_IGNORE);
}

// Calls `part(first, count, begin)` for all elements, a few at a time: their first packed byte is
// `begin`. `whole(first, begin)` for those of which not even one fits.
template <typename Part, typename Whole>
void for_each_part(std::int64_t count, std::size_t element_bytes, std::size_t at_once, Part part,
                   Whole whole) {
  if (element_bytes == 0) return;
  const auto fit = static_cast<std::int64_t>(at_once / element_bytes);
  std::size_t begin = 0;
  for (std::int64_t first = 0; first < count;) {
    const std::int64_t taken = std::clamp<std::int64_t>(fit, 1, count - first);
    if (fit == 0)
      whole(first, begin);
    else
      part(first, static_cast<int>(taken), begin);
    begin += element_bytes * static_cast<std::size_t>(taken);
    first += taken;
  }
}

}  // namespace

PlainBytes::PlainBytes(std::size_t bytes) {
  constexpr std::size_t long_bytes = std::size_t{1} << 30;
  const int lengths[] = {static_cast<int>(bytes / long_bytes),
                         static_cast<int>(bytes % long_bytes)};
  const MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes - bytes % long_bytes)};
  MPI_Datatype parts[] = {MPI_DATATYPE_NULL, MPI_BYTE};
  PMPI_Type_contiguous(static_cast<int>(long_bytes), MPI_BYTE, &parts[0]);
  PMPI_Type_create_struct(2, lengths, places, parts, &datatype_);
  PMPI_Type_commit(&datatype_);
  PMPI_Type_free(&parts[0]);
}

PlainBytes::~PlainBytes() { PMPI_Type_free(&datatype_); }

void pack_by_mpi(const void* buffer, std::int64_t count, MPI_Datatype datatype,
                 std::span<std::byte> to, std::size_t at_once) {
  const TypeFacts& facts = facts_of(datatype);
  const auto* elements = static_cast<const std::byte*>(buffer);
  for_each_part(
      count, facts.size, at_once,
      [&](std::int64_t first, int some, std::size_t begin) {
        const auto part = to.subspan(begin, facts.size * static_cast<std::size_t>(some));
        int position = 0;
        PMPI_Pack(elements + first * facts.extent, some, datatype, part.data(),
                  static_cast<int>(part.size()), &position, MPI_COMM_SELF);
      },
      [&](std::int64_t first, std::size_t begin) {
        const PlainBytes bytes(facts.size);
        send_to_oneself(elements + first * facts.extent, datatype, &to[begin], bytes.datatype());
      });
}

void unpack_by_mpi(std::span<const std::byte> from, void* buffer, std::int64_t count,
                   MPI_Datatype datatype, std::size_t at_once) {
  const TypeFacts& facts = facts_of(datatype);
  auto* elements = static_cast<std::byte*>(buffer);
  for_each_part(
      count, facts.size, at_once,
      [&](std::int64_t first, int some, std::size_t begin) {
        if (begin >= from.size()) return;
        const std::size_t bytes = facts.size * static_cast<std::size_t>(some);
        const auto part = from.subspan(begin, std::min(bytes, from.size() - begin));
        const auto there = static_cast<int>(part.size() / facts.size);  // MPI refuses to lack any
        int position = 0;
        PMPI_Unpack(part.data(), static_cast<int>(part.size()), &position,
                    elements + first * facts.extent, std::min(some, there), datatype,
                    MPI_COMM_SELF);
      },
      [&](std::int64_t first, std::size_t begin) {
        if (from.size() < begin + facts.size) return;
        const PlainBytes bytes(facts.size);
        send_to_oneself(&from[begin], bytes.datatype(), elements + first * facts.extent, datatype);
      });
}

}  // namespace resprout::shim

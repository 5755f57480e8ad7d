#include "mpi/policies/checkpoints/code_parts.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace resprout::shim {
namespace {

using runtime::ByteRange;
using runtime::CodeGroup;
using runtime::CodeHolding;
using runtime::Image;
using runtime::Rebuilt;

constexpr std::size_t summed_at_once = 4 << 20;
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

template <typename Each>
void for_each_piece(std::size_t bytes, Each each) {
  for (std::size_t done = 0; done < bytes; done += summed_at_once)
    each(ByteRange{.offset = done, .bytes = std::min(summed_at_once, bytes - done)});
}

// The XOR of what all give in `words`, which has it at the root afterwards.
void sum_at(int root, int place, std::vector<std::uint64_t>& words, std::size_t bytes,
            MPI_Comm comm) {
  const int count = static_cast<int>(bytes / word_bytes);
  if (place == root)
    PMPI_Reduce(MPI_IN_PLACE, words.data(), count, MPI_UINT64_T, MPI_BXOR, root, comm);
  else
    PMPI_Reduce(words.data(), nullptr, count, MPI_UINT64_T, MPI_BXOR, root, comm);
}

// What of a member's bytes lies in this piece of a chunk, with zeros behind.
void read_piece(std::span<const std::byte> from, int chunk, std::size_t chunk_bytes,
                const ByteRange& piece, std::vector<std::uint64_t>& words) {
  const ByteRange range = runtime::bytes_in_chunk(chunk, chunk_bytes, piece, from.size());
  std::fill(words.begin(), words.end(), 0);
  if (range.bytes > 0) std::memcpy(words.data(), from.data() + range.offset, range.bytes);
}

std::size_t chunk_bytes_of(const CodeGroup& group) {
  const auto lengths = group.lengths();
  return runtime::chunk_bytes(*std::max_element(lengths.begin(), lengths.end()), lengths.size());
}

std::size_t place_of(const CodeGroup& group, int rank) {
  const auto members = group.ranks();
  return static_cast<std::size_t>(std::find(members.begin(), members.end(), rank) -
                                  members.begin());
}

}  // namespace

CodeParts::CodeParts(const std::string& folder, std::span<const int> hosts, int size, int rank,
                     MPI_Comm comm, runtime::BlockDigest digest)
    : rank_(rank),
      ranks_(static_cast<int>(hosts.size())),
      store_(folder, "parity-" + std::to_string(rank), digest) {
  const auto groups = runtime::code_groups(hosts, size);
  int color = MPI_UNDEFINED;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!std::binary_search(groups[i].begin(), groups[i].end(), rank)) continue;
    color = static_cast<int>(i);
    members_ = groups[i];
  }
  PMPI_Comm_split(comm, color, rank, &comm_);
}

int CodeParts::keep(const Image* image, std::uint64_t generation, std::uint64_t needed) {
  if (comm_ == MPI_COMM_NULL) return 0;
  CodeGroup group{.count = members_.size()};
  std::copy(members_.begin(), members_.end(), group.members.begin());
  const std::uint64_t bytes = image != nullptr ? image->all.size() : 0;
  PMPI_Allgather(&bytes, 1, MPI_UINT64_T, group.bytes.data(), 1, MPI_UINT64_T, comm_);
  const auto lengths = group.lengths();
  if (std::find(lengths.begin(), lengths.end(), 0) != lengths.end()) return 0;

  const int place = static_cast<int>(place_of(group, rank_));
  const std::size_t length = chunk_bytes_of(group);
  std::vector<std::uint64_t> parity(length / word_bytes);
  std::vector<std::uint64_t> words(std::min(length, summed_at_once) / word_bytes);
  for_each_piece(length, [&](const ByteRange& piece) {
    for (int keeper = 0; keeper < static_cast<int>(group.count); ++keeper) {
      if (keeper == place)
        std::fill(words.begin(), words.end(), 0);
      else
        read_piece(image->all, runtime::chunk_kept_by(keeper, place), length, piece, words);
      sum_at(keeper, place, words, piece.bytes, comm_);
      if (keeper == place)
        std::memcpy(parity.data() + piece.offset / word_bytes, words.data(), piece.bytes);
    }
  });
  const std::array<std::span<std::byte>, 2> regions{std::as_writable_bytes(std::span(&group, 1)),
                                                    std::as_writable_bytes(std::span(parity))};
  return store_.keep({generation, needed, rank_, ranks_}, regions, needed);
}

std::optional<FoundShare> CodeParts::read(const Image& image, int holder, int ranks) {
  FoundShare found;
  CodeHolding& it = found.holding;
  if (image.name.ranks != ranks || image.sizes.size() != 2 || image.sizes[0] != sizeof it.group)
    return std::nullopt;
  it.holder = holder;
  it.keeper = image.name.rank;
  it.generation = image.name.generation;
  it.counted = image.name.counted;
  std::memcpy(&it.group, image.data.data(), sizeof it.group);
  found.parity = image.data.subspan(sizeof it.group);
  return found;
}

// Each chunk of the owner is the XOR of what its keeper keeps and of the chunks of all others that
// went into that. Who has nothing to add gives zeros.
void CodeParts::rebuild(const Rebuilt& it, int rank, MPI_Comm comm, const Image* own,
                        const std::function<const FoundShare*(int keeper)>& share,
                        std::span<std::byte> into) {
  const auto members = it.group.ranks();
  const std::size_t owner = place_of(it.group, it.owner);
  const std::size_t place = place_of(it.group, rank);
  const bool is_member = place < members.size() && rank != it.owner;
  const bool is_holder = std::find(it.holders.begin(), it.holders.end(), rank) != it.holders.end();
  MPI_Comm group = MPI_COMM_NULL;
  const bool takes_part = is_member || is_holder || rank == it.owner;
  PMPI_Comm_split(comm, takes_part ? 0 : MPI_UNDEFINED, rank == it.owner ? 0 : 1, &group);
  if (!takes_part) return;
  int place_here = 0;
  PMPI_Comm_rank(group, &place_here);

  const std::size_t length = chunk_bytes_of(it.group);
  std::vector<std::uint64_t> words(std::min(length, summed_at_once) / word_bytes);
  for (std::size_t keeper = 0; keeper < members.size(); ++keeper) {
    if (keeper == owner) continue;
    const FoundShare* kept = it.holders[keeper] == rank ? share(members[keeper]) : nullptr;
    const int chunk = runtime::chunk_kept_by(static_cast<int>(keeper), static_cast<int>(owner));
    for_each_piece(length, [&](const ByteRange& piece) {
      if (is_member && place != keeper)
        read_piece(own->all,
                   runtime::chunk_kept_by(static_cast<int>(keeper), static_cast<int>(place)),
                   length, piece, words);
      else
        std::fill(words.begin(), words.end(), 0);
      for (std::size_t i = 0; kept != nullptr && i < piece.bytes / word_bytes; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, kept->parity.data() + piece.offset + i * word_bytes, word_bytes);
        words[i] ^= word;
      }
      sum_at(0, place_here, words, piece.bytes, group);
      const ByteRange range = runtime::bytes_in_chunk(chunk, length, piece, into.size());
      if (rank == it.owner && range.bytes > 0)
        std::memcpy(into.data() + range.offset, words.data(), range.bytes);
    });
  }
  PMPI_Comm_free(&group);
}

}  // namespace resprout::shim

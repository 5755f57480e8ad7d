#include "mpi/policies/checkpoints/partner_copies.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/checkpoints/partners.hpp"

namespace resprout::shim {
namespace {

using runtime::BlockRun;
using runtime::ByteRange;
using runtime::Image;

enum PartnerTag { tag_offer = 1, tag_answer, tag_head, tag_count, tag_runs, tag_blocks };

// MPI counts in ints, and what is under way needs memory in some libraries.
constexpr std::size_t sent_at_once = 16 << 20;

template <typename Each>
void for_each_piece(const ByteRange& range, Each each) {
  for (std::size_t done = 0; done < range.bytes; done += sent_at_once)
    each(range.offset + done, static_cast<int>(std::min(sent_at_once, range.bytes - done)));
}

}  // namespace

PartnerCopies::PartnerCopies(const std::string& folder, std::span<const int> hosts, int rank,
                             MPI_Comm comm, runtime::BlockDigest digest)
    : comm_(comm) {
  const std::vector<int> partners = runtime::partners_of(hosts);
  partner_ = partners[static_cast<std::size_t>(rank)];
  for (std::size_t other = 0; other < partners.size(); ++other)
    if (partners[other] == rank)
      sources_.push_back({.rank = static_cast<int>(other),
                          .store = std::make_unique<runtime::MemoryStore>(
                              folder, "copy-" + std::to_string(other), digest)});
}

void PartnerCopies::set_base(const Image& image) {
  base_ = image.name.generation;
  base_digests_.assign(image.digests.begin(), image.digests.end());
}

int PartnerCopies::start(const Image* image, std::uint64_t needed) {
  if (is_idle()) return 0;
  exchange_offers(image, needed);
  exchange_runs(image);
  if (image != nullptr && answer_.error == 0) {
    begin_to_send(*image);
    set_base(*image);
  } else {
    base_ = 0;
  }
  int error = 0;
  for (Source& source : sources_) {
    if (source.answer.error != 0) error = source.answer.error;
    if (source.into.empty()) continue;
    begin_to_receive(source);
    copy_unchanged(source);
  }
  return error;
}

void PartnerCopies::exchange_offers(const Image* image, std::uint64_t needed) {
  offer_ = {};
  if (image != nullptr)
    offer_ = {image->name.generation, image->all.size(), image->head().size(), base_};
  requests_.emplace_back();
  PMPI_Isend(&offer_, sizeof offer_, MPI_BYTE, partner_, tag_offer, comm_, &requests_.back());
  for (Source& source : sources_) {
    PMPI_Recv(&source.offer, sizeof source.offer, MPI_BYTE, source.rank, tag_offer, comm_,
              MPI_STATUS_IGNORE);
    source.answer = {};
    source.into = {};
    const Offer& offer = source.offer;
    if (offer.generation > 0) {
      source.answer.error = source.store->begin(offer.bytes, needed, source.into);
      source.answer.has_base = offer.base > 0 && source.store->find(offer.base).has_value();
    }
    requests_.emplace_back();
    PMPI_Isend(&source.answer, sizeof source.answer, MPI_BYTE, source.rank, tag_answer, comm_,
               &requests_.back());
  }
  PMPI_Recv(&answer_, sizeof answer_, MPI_BYTE, partner_, tag_answer, comm_, MPI_STATUS_IGNORE);
  wait();
}

void PartnerCopies::exchange_runs(const Image* image) {
  std::uint64_t count = 0;
  if (image != nullptr && answer_.error == 0) {
    runs_ = runtime::changed_blocks(
        image->digests, answer_.has_base != 0 ? std::span<const std::uint64_t>(base_digests_)
                                              : std::span<const std::uint64_t>());
    count = runs_.size();
    const auto send = [&](const void* from, std::size_t bytes, int tag) {
      requests_.emplace_back();
      PMPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, partner_, tag, comm_, &requests_.back());
    };
    send(image->head().data(), image->head().size(), tag_head);
    send(&count, sizeof count, tag_count);
    send(runs_.data(), runs_.size() * sizeof(BlockRun), tag_runs);
  }
  for (Source& source : sources_) {
    if (source.into.empty()) continue;
    const auto receive = [&](void* into, std::size_t bytes, int tag) {
      PMPI_Recv(into, static_cast<int>(bytes), MPI_BYTE, source.rank, tag, comm_,
                MPI_STATUS_IGNORE);
    };
    source.head.resize(source.offer.head_bytes);
    receive(source.head.data(), source.head.size(), tag_head);
    receive(&source.runs_count, sizeof source.runs_count, tag_count);
    source.runs.resize(source.runs_count);
    receive(source.runs.data(), source.runs.size() * sizeof(BlockRun), tag_runs);
  }
  wait();
}

void PartnerCopies::begin_to_send(const Image& image) {
  figures_.whole_bytes += image.data.size();
  for (const BlockRun& run : runs_) {
    const ByteRange range = range_of(run, runtime::image_block_bytes, image.data.size());
    figures_.sent_bytes += range.bytes;
    for_each_piece(range, [&](std::size_t offset, int bytes) {
      requests_.emplace_back();
      PMPI_Isend(image.data.data() + offset, bytes, MPI_BYTE, partner_, tag_blocks, comm_,
                 &requests_.back());
    });
  }
}

void PartnerCopies::begin_to_receive(Source& source) {
  const auto data = source.into.subspan(source.head.size());
  for (const BlockRun& run : source.runs)
    for_each_piece(range_of(run, runtime::image_block_bytes, data.size()),
                   [&](std::size_t offset, int bytes) {
                     requests_.emplace_back();
                     PMPI_Irecv(data.data() + offset, bytes, MPI_BYTE, source.rank, tag_blocks,
                                comm_, &requests_.back());
                   });
}

// Blocks have their places from the beginning of the data on, in both.
void PartnerCopies::copy_unchanged(Source& source) {
  const auto data = source.into.subspan(source.head.size());
  const std::uint64_t blocks =
      (data.size() + runtime::image_block_bytes - 1) / runtime::image_block_bytes;
  const auto base =
      source.answer.has_base != 0 ? source.store->find(source.offer.base) : std::optional<Image>();
  if (!base) return;
  for (const BlockRun& run : other_blocks(source.runs, blocks)) {
    const ByteRange range = range_of(run, runtime::image_block_bytes, data.size());
    std::memcpy(data.data() + range.offset, base->data.data() + range.offset, range.bytes);
  }
}

void PartnerCopies::finish() {
  wait();
  for (Source& source : sources_) {
    if (source.into.empty()) continue;
    source.store->finish(source.head);
    source.into = {};
  }
}

void PartnerCopies::wait() {
  PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
}

}  // namespace resprout::shim

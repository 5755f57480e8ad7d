#include "runtime/transports/shm/shm_transport.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "core/invariant.hpp"
#include "runtime/copy.hpp"
#include "runtime/transports/shm/arena.hpp"
#include "runtime/transports/shm/ring.hpp"

namespace resprout::runtime {
namespace {

// Data in an arena goes by reference from this size on; below, copying is cheaper.
constexpr std::size_t reference_bytes_min = 1024;
// Up to so many ranks a receiver looks into every ring: a few lines that it has in its cache
// anyway. With more it looks at its bitmap, at the price of another cache line that moves per
// message.
constexpr std::size_t ranks_polled_max = 16;

// A frame on its way through the ring in pieces, at either end.
struct Stream {
  FrameHeader header;
  std::vector<std::byte> prefix;
  std::uint64_t data_bytes = 0;
  std::uint64_t moved = 0;  // of prefix and data, one after the other
  bool is_active = false;

  std::uint64_t total() const { return prefix.size() + data_bytes; }
};

struct Peer {
  int world_rank = -1;
  bool is_closed = false;
  RingWriter writer;
  RingReader reader;
  std::uint64_t* bitmap_word = nullptr;  // of the peer, where our bit is
  std::uint64_t bitmap_bit = 0;

  Stream outgoing;
  bool is_begun = false;  // the `begin` record of `outgoing` is written
  const std::byte* outgoing_data = nullptr;
  Transfer* transfer = nullptr;

  Stream incoming;
  std::byte* incoming_data = nullptr;
};

}  // namespace

class ShmTransport::Impl {
 public:
  Impl(std::unique_ptr<ShmSegment> segment, std::span<const int> world_ranks, int self);

  bool reaches(int world_rank) const { return local_index(world_rank) >= 0; }
  bool try_send(int world_rank, const FrameHeader& header, std::span<const std::byte> prefix,
                std::span<const std::byte> data, Transfer& transfer);
  bool progress(Receiver& receiver);
  void close_peer(int world_rank, Receiver& receiver);
  bool is_flushed() const { return streaming_.empty(); }
  bool withdraw();
  bool has_withdrawn(int world_rank) const {
    return segment_->has_withdrawn(static_cast<std::uint32_t>(local_index(world_rank)));
  }
  Doorbell bell() const { return Doorbell(segment_->bell()); }
  NoticeBoard board() const { return NoticeBoard(segment_->board()); }
  DeathMarks death_marks() const { return {segment_->death_marks(), world_ranks_}; }
  SlotPoolMemory shared_slots() const { return {segment_->shared_slots(), world_ranks_}; }
  Arena& arena() { return arena_; }
  bool is_referable(std::span<const std::byte> data) const {
    return data.size() >= reference_bytes_min && arenas_.contains(data);
  }

 private:
  int local_index(int world_rank) const {
    const auto i = static_cast<std::size_t>(world_rank);
    return i < local_index_.size() ? local_index_[i] : -1;
  }
  bool send_frame(Peer& peer, const FrameHeader& header, std::span<const std::byte> prefix,
                  std::span<const std::byte> data);
  bool send_reference(Peer& peer, const FrameHeader& header, std::span<const std::byte> prefix,
                      std::span<const std::byte> data);
  bool pump(Peer& peer);
  static void end_outgoing(Peer& peer);
  void notify(Peer& peer) const {
    if (polls_rings_) return;
    std::atomic_ref(*peer.bitmap_word).fetch_or(peer.bitmap_bit, std::memory_order_release);
  }
  // One record, so that a process which waits for it gets on with its program before it looks at
  // what is for later: that waits where it is, in the ring.
  bool receive(std::size_t sender, Receiver& receiver);
  bool receive_all(Receiver& receiver);
  void handle_record(std::size_t sender, const Record& record, Receiver& receiver);
  static void handle_piece(Peer& peer, const Record& record, Receiver& receiver);

  std::unique_ptr<ShmSegment> segment_;
  const std::uint32_t self_;
  const std::vector<int> world_ranks_;  // by local index
  std::atomic<bool> has_withdrawn_ = false;
  std::vector<int> local_index_;       // by world rank
  std::vector<Peer> peers_;            // by local index; one's own is never used
  std::vector<std::uint64_t> unread_;  // senders that may have more, as in the bitmap
  std::uint64_t* bitmap_;
  std::vector<std::size_t> streaming_;  // peers with an outgoing stream
  bool polls_rings_;                    // the same at all ranks of the host
  Arena arena_;                         // one's own
  Arena arenas_;  // all of the host's, one after the other: only to tell what lies in them
};

ShmTransport::Impl::Impl(std::unique_ptr<ShmSegment> segment, std::span<const int> world_ranks,
                         int self)
    : segment_(std::move(segment)),
      self_(static_cast<std::uint32_t>(self)),
      world_ranks_(world_ranks.begin(), world_ranks.end()),
      peers_(world_ranks.size()),
      unread_((world_ranks.size() + 63) / 64),
      bitmap_(reinterpret_cast<std::uint64_t*>(segment_->bitmap(static_cast<std::uint32_t>(self)))),
      polls_rings_(world_ranks.size() <= ranks_polled_max),
      arena_(segment_->arena(static_cast<std::uint32_t>(self)), segment_->sizes().arena_bytes),
      arenas_(segment_->arena(0), segment_->sizes().arena_bytes * world_ranks.size()) {
  RESPROUT_INVARIANT(segment_->sizes().local_ranks == world_ranks.size());
  local_index_.assign(
      static_cast<std::size_t>(*std::max_element(world_ranks.begin(), world_ranks.end())) + 1, -1);
  const auto me = static_cast<std::uint32_t>(self);
  const std::size_t ring_bytes = segment_->sizes().ring_bytes;
  for (std::uint32_t i = 0; i < peers_.size(); ++i) {
    local_index_[static_cast<std::size_t>(world_ranks[i])] = static_cast<int>(i);
    if (i == me) continue;
    Peer& peer = peers_[i];
    peer.world_rank = world_ranks[i];
    peer.writer = RingWriter(RingMemory(segment_->ring(me, i), ring_bytes));
    peer.reader = RingReader(RingMemory(segment_->ring(i, me), ring_bytes));
    peer.bitmap_word = reinterpret_cast<std::uint64_t*>(segment_->bitmap(i)) + me / 64;
    peer.bitmap_bit = std::uint64_t{1} << (me % 64);
  }
}

bool ShmTransport::Impl::try_send(int world_rank, const FrameHeader& header,
                                  std::span<const std::byte> prefix,
                                  std::span<const std::byte> data, Transfer& transfer) {
  const auto index = static_cast<std::size_t>(local_index(world_rank));
  Peer& peer = peers_[index];
  if (peer.is_closed) return true;
  if (peer.outgoing.is_active) return false;
  if (is_referable(data) && data_offset + 16 + prefix.size() <= peer.writer.record_bytes_max())
    return send_reference(peer, header, prefix, data);
  if (data_offset + padded(data.size()) + prefix.size() <= peer.writer.record_bytes_max())
    return send_frame(peer, header, prefix, data);

  peer.outgoing.header = header;
  peer.outgoing.prefix.assign(prefix.begin(), prefix.end());
  peer.outgoing.data_bytes = data.size();
  peer.outgoing.moved = 0;
  peer.outgoing.is_active = true;
  peer.is_begun = false;
  peer.outgoing_data = data.data();
  peer.transfer = &transfer;
  ++transfer.pending;
  streaming_.push_back(index);
  pump(peer);
  if (!peer.outgoing.is_active) streaming_.pop_back();
  return true;
}

bool ShmTransport::Impl::send_frame(Peer& peer, const FrameHeader& header,
                                    std::span<const std::byte> prefix,
                                    std::span<const std::byte> data) {
  const std::size_t prefix_at = data_offset + padded(data.size());
  const std::size_t bytes = prefix_at + prefix.size();
  Record* const record = peer.writer.reserve(bytes);
  if (record == nullptr) return false;
  record->prefix_bytes = static_cast<std::uint32_t>(prefix.size());
  record->data_bytes = data.size();
  record->header = header;
  copy_bytes(record->at(data_offset), data.data(), data.size());
  copy_bytes(record->at(prefix_at), prefix.data(), prefix.size());
  peer.writer.publish(RecordKind::frame, bytes);
  notify(peer);
  return true;
}

bool ShmTransport::Impl::send_reference(Peer& peer, const FrameHeader& header,
                                        std::span<const std::byte> prefix,
                                        std::span<const std::byte> data) {
  const std::size_t prefix_at = data_offset + 16;
  const std::size_t bytes = prefix_at + prefix.size();
  Record* const record = peer.writer.reserve(bytes);
  if (record == nullptr) return false;
  const std::uint64_t position = arenas_.offset_of(data.data());
  record->prefix_bytes = static_cast<std::uint32_t>(prefix.size());
  record->data_bytes = data.size();
  record->header = header;
  std::memcpy(record->at(data_offset), &position, sizeof position);
  copy_bytes(record->at(prefix_at), prefix.data(), prefix.size());
  peer.writer.publish(RecordKind::reference, bytes);
  notify(peer);
  return true;
}

// Writes as many pieces as there is room for; true if anything was written.
bool ShmTransport::Impl::pump(Peer& peer) {
  Stream& stream = peer.outgoing;
  bool moved = false;
  if (!peer.is_begun) {
    Record* const record = peer.writer.reserve(data_offset);
    if (record == nullptr) return false;
    record->prefix_bytes = static_cast<std::uint32_t>(stream.prefix.size());
    record->data_bytes = stream.data_bytes;
    record->header = stream.header;
    peer.writer.publish(RecordKind::begin, data_offset);
    peer.is_begun = moved = true;
  }
  while (stream.moved < stream.total()) {
    const bool in_prefix = stream.moved < stream.prefix.size();
    const std::byte* from = in_prefix ? stream.prefix.data() + stream.moved
                                      : peer.outgoing_data + (stream.moved - stream.prefix.size());
    const std::uint64_t left = (in_prefix ? stream.prefix.size() : stream.total()) - stream.moved;
    const std::size_t length =
        std::min<std::uint64_t>(left, peer.writer.record_bytes_max() - piece_offset);
    Record* const record = peer.writer.reserve(piece_offset + length);
    if (record == nullptr) break;
    record->data_bytes = length;
    copy_bytes(record->at(piece_offset), from, length);
    peer.writer.publish(RecordKind::piece, piece_offset + length);
    stream.moved += length;
    moved = true;
  }
  if (moved) notify(peer);
  if (stream.moved == stream.total()) end_outgoing(peer);
  return moved;
}

void ShmTransport::Impl::end_outgoing(Peer& peer) {
  peer.outgoing.is_active = false;
  --peer.transfer->pending;
}

bool ShmTransport::Impl::receive_all(Receiver& receiver) {
  bool moved = false;
  if (polls_rings_) {
    for (std::size_t sender = 0; sender < peers_.size(); ++sender)
      if (peers_[sender].world_rank >= 0) moved = receive(sender, receiver) || moved;
    return moved;
  }
  for (std::size_t word = 0; word < unread_.size(); ++word) {
    std::atomic_ref written(bitmap_[word]);
    if (written.load(std::memory_order_relaxed) != 0)
      unread_[word] |= written.exchange(0, std::memory_order_acquire);
    for (std::uint64_t bits = unread_[word]; bits != 0; bits &= bits - 1) {
      const std::size_t sender = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      moved = receive(sender, receiver) || moved;
    }
  }
  return moved;
}

bool ShmTransport::Impl::progress(Receiver& receiver) {
  bool moved = receive_all(receiver);
  for (std::size_t i = 0; i < streaming_.size();) {
    Peer& peer = peers_[streaming_[i]];
    moved = pump(peer) || moved;
    if (peer.outgoing.is_active) {
      ++i;
    } else {
      streaming_[i] = streaming_.back();
      streaming_.pop_back();
    }
  }
  return moved;
}

bool ShmTransport::Impl::receive(std::size_t sender, Receiver& receiver) {
  Peer& peer = peers_[sender];
  const bool is_over = peer.is_closed || has_withdrawn_.load(std::memory_order_relaxed);
  const Record* const record = is_over ? nullptr : peer.reader.peek();
  if (record == nullptr) {
    unread_[sender / 64] &= ~(std::uint64_t{1} << (sender % 64));
    return false;
  }
  handle_record(sender, *record, receiver);
  peer.reader.consume();
  return true;
}

void ShmTransport::Impl::handle_record(std::size_t sender, const Record& record,
                                       Receiver& receiver) {
  Peer& peer = peers_[sender];
  switch (record.kind()) {
    case RecordKind::frame:
      receiver.handle_frame(
          peer.world_rank, record.header,
          {record.at(data_offset + padded(record.data_bytes)), record.prefix_bytes},
          {record.at(data_offset), record.data_bytes}, DataOwner::transport);
      break;
    case RecordKind::reference: {
      std::uint64_t position;
      std::memcpy(&position, record.at(data_offset), sizeof position);
      const std::span<const std::byte> data{segment_->arena(0) + position, record.data_bytes};
      RESPROUT_INVARIANT(arenas_.contains(data));
      receiver.handle_frame(peer.world_rank, record.header,
                            {record.at(data_offset + 16), record.prefix_bytes}, data,
                            DataOwner::shared);
      break;
    }
    case RecordKind::begin: {
      Stream& stream = peer.incoming;
      stream.header = record.header;
      stream.prefix.resize(record.prefix_bytes);
      stream.data_bytes = record.data_bytes;
      stream.moved = 0;
      stream.is_active = true;
      peer.incoming_data =
          stream.data_bytes == 0
              ? nullptr
              : receiver.allocate_payload(peer.world_rank, stream.header, stream.data_bytes);
      break;
    }
    case RecordKind::piece:
      handle_piece(peer, record, receiver);
      break;
    case RecordKind::none:
    case RecordKind::skip:
      RESPROUT_INVARIANT(false);
  }
}

void ShmTransport::Impl::handle_piece(Peer& peer, const Record& record, Receiver& receiver) {
  Stream& stream = peer.incoming;
  const std::size_t length = record.data_bytes;
  RESPROUT_INVARIANT(stream.is_active && length <= stream.total() - stream.moved);
  std::byte* const to = stream.moved < stream.prefix.size()
                            ? stream.prefix.data() + stream.moved
                            : peer.incoming_data + (stream.moved - stream.prefix.size());
  copy_bytes(to, record.at(piece_offset), length);
  stream.moved += length;
  if (stream.moved != stream.total()) return;
  stream.is_active = false;
  receiver.handle_frame(peer.world_rank, stream.header, stream.prefix,
                        {std::exchange(peer.incoming_data, nullptr), stream.data_bytes},
                        stream.data_bytes == 0 ? DataOwner::transport : DataOwner::receiver);
}

// What it reads of rings from here on may be old in part: it reads no more.
bool ShmTransport::Impl::withdraw() {
  has_withdrawn_ = true;
  if (!ShmSegment::withdraw_from_all()) return false;
  segment_->note_withdrawn(self_);
  return true;
}

void ShmTransport::Impl::close_peer(int world_rank, Receiver& receiver) {
  const int index = local_index(world_rank);
  if (index < 0 || peers_[static_cast<std::size_t>(index)].is_closed) return;
  Peer& peer = peers_[static_cast<std::size_t>(index)];
  // Bounded by what a ring holds, because one that is wrongly taken for dead may go on writing.
  for (std::uint32_t line = 0; line < segment_->sizes().ring_bytes / record_line; ++line)
    if (!receive(static_cast<std::size_t>(index), receiver)) break;
  peer.is_closed = true;
  if (peer.outgoing.is_active) {
    end_outgoing(peer);
    std::erase(streaming_, static_cast<std::size_t>(index));
  }
  if (peer.incoming.is_active && peer.incoming_data != nullptr)
    receiver.abandon_payload(world_rank, std::exchange(peer.incoming_data, nullptr));
  peer.incoming.is_active = false;
}

ShmTransport::ShmTransport(std::unique_ptr<ShmSegment> segment, std::span<const int> world_ranks,
                           int self)
    : impl_(std::make_unique<Impl>(std::move(segment), world_ranks, self)) {}
ShmTransport::~ShmTransport() = default;

bool ShmTransport::reaches(int peer) const { return impl_->reaches(peer); }
bool ShmTransport::try_send(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                            std::span<const std::byte> data, Transfer& transfer) {
  return impl_->try_send(peer, header, prefix, data, transfer);
}
bool ShmTransport::progress(Receiver& receiver) { return impl_->progress(receiver); }
void ShmTransport::close_peer(int peer, Receiver& receiver) { impl_->close_peer(peer, receiver); }
bool ShmTransport::is_flushed() const { return impl_->is_flushed(); }
bool ShmTransport::withdraw() { return impl_->withdraw(); }
bool ShmTransport::has_withdrawn(int peer) const { return impl_->has_withdrawn(peer); }
Doorbell ShmTransport::bell() const { return impl_->bell(); }
NoticeBoard ShmTransport::board() const { return impl_->board(); }
DeathMarks ShmTransport::death_marks() const { return impl_->death_marks(); }
SlotPoolMemory ShmTransport::shared_slots() const { return impl_->shared_slots(); }
bool ShmTransport::passes_by_reference(int peer, std::span<const std::byte> data) const {
  return reaches(peer) && impl_->is_referable(data);
}
std::byte* ShmTransport::allocate_shared(std::size_t bytes) {
  return impl_->arena().allocate(bytes);
}
void ShmTransport::free_shared(std::byte* block) { impl_->arena().free(block); }

}  // namespace resprout::runtime

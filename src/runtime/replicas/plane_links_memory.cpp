// Frames that lie in memory: what is said of it over the connections.
#include <cstring>
#include <type_traits>

#include "runtime/mutex.hpp"
#include "runtime/replicas/plane_links.hpp"

namespace resprout::runtime {
namespace {

struct MemoryNote {
  enum class Kind : std::uint32_t {
    offer,     // `name`: of memory that the process would write frames into, for this one
    accepted,  // this process has found what was offered to it
    refused,   // or has not
    placed,    // a frame of `channel` lies at `place`
  };
  Kind kind = Kind::offer;
  Channel channel = Channel::memory;
  FrameMemory::Name name;
  FrameMemory::Place place;
};
static_assert(std::is_trivially_copyable_v<MemoryNote> &&
              std::has_unique_object_representations_v<MemoryNote>);

std::span<const std::byte> bytes_of(const MemoryNote& note) {
  return std::as_bytes(std::span(&note, 1));
}

std::uint64_t new_key() {
  const auth::Secret random = auth::new_secret();
  std::uint64_t key = 0;
  std::memcpy(&key, random.data(), sizeof key);
  return key;
}

}  // namespace

// --- who writes
// -----------------------------------------------------------------------------------

void PlaneLinks::offer_memory(Unsent& unsent) {
  if (auto made = FrameMemory::create(new_key())) unsent.memory.emplace(std::move(*made));
  unsent.sharing = unsent.memory ? Sharing::offered : Sharing::refused;
  if (!unsent.memory) return;
  append(unsent, Channel::memory,
         bytes_of({.kind = MemoryNote::Kind::offer, .name = unsent.memory->name(), .place = {}}),
         {});
}

// False: it goes over the connection itself.
bool PlaneLinks::maybe_place(Unsent& unsent, Channel channel, std::span<const std::byte> head,
                             std::span<const std::byte> rest) {
  if (head.size() + rest.size() < in_memory_min) return false;
  if (unsent.sharing == Sharing::not_offered) offer_memory(unsent);
  if (unsent.sharing != Sharing::agreed) return false;
  const auto place = unsent.memory->write(head, rest);
  if (!place) return false;
  append(
      unsent, Channel::memory,
      bytes_of({.kind = MemoryNote::Kind::placed, .channel = channel, .name = {}, .place = *place}),
      {});
  unsent.placed += place->size;
  ++placed_;
  return true;
}

void PlaneLinks::give_up_memory(Unsent& unsent) {
  unsent.sharing = Sharing::refused;
  unsent.memory.reset();
}

// --- who reads
// ------------------------------------------------------------------------------------

// False: it makes no sense.
bool PlaneLinks::take_note(Replica from, std::span<const std::byte> frame) {
  MemoryNote note;
  if (frame.size() != sizeof note) return false;
  std::memcpy(&note, frame.data(), sizeof note);
  const auto number = static_cast<std::size_t>(number_of(from));
  if (note.kind == MemoryNote::Kind::offer) return open_memory(from, note.name);
  if (note.kind == MemoryNote::Kind::placed) {
    std::optional<FrameMemory>& memory = read_from_[number];
    const auto placed = memory ? memory->at(note.place) : std::nullopt;
    const auto channel = static_cast<std::size_t>(note.channel);
    if (!placed || channel >= channels || note.channel == Channel::memory) return false;
    hand_out(from, note.channel, *placed);
    memory->free(note.place);
    return true;
  }
  const MutexLock lock(mutex_);
  Unsent& unsent = unsent_[number];
  if (unsent.sharing != Sharing::offered) return false;
  if (note.kind == MemoryNote::Kind::accepted) {
    unsent.sharing = Sharing::agreed;
    unsent.memory->close();
  } else {
    give_up_memory(unsent);
  }
  return true;
}

bool PlaneLinks::open_memory(Replica from, const FrameMemory::Name& name) {
  std::optional<FrameMemory>& memory = read_from_[static_cast<std::size_t>(number_of(from))];
  if (memory) return false;
  if (auto found = FrameMemory::open(name)) memory.emplace(std::move(*found));
  const auto kind = memory ? MemoryNote::Kind::accepted : MemoryNote::Kind::refused;
  send(from, Channel::memory, bytes_of({.kind = kind, .name = {}, .place = {}}));
  return true;
}

}  // namespace resprout::runtime

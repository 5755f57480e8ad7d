#include "runtime/replicas/lag.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/invariant.hpp"

namespace resprout::runtime {
namespace {

static_assert(std::is_trivially_copyable_v<Steps> &&
              std::has_unique_object_representations_v<Steps>);

std::uint64_t quantum_of(std::uint64_t bound) { return std::max<std::uint64_t>(1, bound / 4); }

// Who is less than a quantum ahead may not be ahead at all.
bool fits(std::uint64_t ahead, std::uint64_t more, std::uint64_t bound) {
  return ahead < quantum_of(bound) || (more <= bound && ahead <= bound - more);
}

std::uint64_t beyond(std::uint64_t own, std::uint64_t other) {
  return own > other ? own - other : 0;
}

}  // namespace

Lag::Lag(Setup setup, ChannelNetwork& network)
    : setup_(std::move(setup)),
      quantum_{quantum_of(setup_.bound.messages), quantum_of(setup_.bound.bytes)},
      network_(network) {
  RESPROUT_INVARIANT(setup_.bound.messages >= messages_min);
}

// --- the program
// ----------------------------------------------------------------------------------

void Lag::wait_for_room(std::uint64_t messages, std::uint64_t copies,
                        const std::function<void()>& before,
                        const std::function<void()>& meanwhile) {
  if (has_room(messages, copies)) [[likely]]
    return;
  before();
  Idle idle(setup_.idle);
  while (!has_room(messages, copies)) {
    meanwhile();
    idle.pause();
  }
}

bool Lag::has_room(std::uint64_t messages, std::uint64_t copies) {
  if (setup_.bound == Steps::no_bound()) return true;
  const std::uint64_t open = setup_.open();
  const std::uint64_t bytes = messages * request_bytes + copies;
  const std::scoped_lock lock(mutex_);
  note_thread();
  if (has_threads_ || is_repeating_) return true;
  const bool has_room_for_open =
      open == 0 || (open + messages <= setup_.bound.messages &&
                    (open + messages) * request_bytes <= setup_.bound.bytes);
  const Steps ahead = ahead_of_slowest();
  return has_room_for_open && fits(ahead.messages, messages, setup_.bound.messages) &&
         fits(ahead.bytes, bytes, setup_.bound.bytes);
}

void Lag::count(std::uint64_t messages, std::uint64_t copies) {
  if (setup_.bound == Steps::no_bound()) return;
  const std::scoped_lock lock(mutex_);
  note_thread();
  if (is_repeating_) return;
  Steps& own = done_[static_cast<std::size_t>(setup_.self.plane)];
  own.messages += messages;
  own.bytes += messages * request_bytes + copies;
  const Steps ahead = ahead_of_slowest();
  ahead_max_.messages = std::max(ahead_max_.messages, ahead.messages);
  ahead_max_.bytes = std::max(ahead_max_.bytes, ahead.bytes);
  if (own.messages - told_.messages >= quantum_.messages ||
      own.bytes - told_.bytes >= quantum_.bytes)
    tell();
}

void Lag::repeat(bool is_repeating) {
  const std::scoped_lock lock(mutex_);
  is_repeating_ = is_repeating;
}

void Lag::finish() {
  if (setup_.bound == Steps::no_bound()) return;
  const std::scoped_lock lock(mutex_);
  done_[static_cast<std::size_t>(setup_.self.plane)] = Steps::no_bound();
  tell();
}

void Lag::note_thread() {
  const std::thread::id own = std::this_thread::get_id();
  if (!thread_) thread_ = own;
  has_threads_ |= *thread_ != own;
}

void Lag::tell() {
  told_ = done_[static_cast<std::size_t>(setup_.self.plane)];
  for (std::int32_t plane = 0; plane < setup_.planes; ++plane)
    if (plane != setup_.self.plane && (lost_planes_ >> plane & 1) == 0)
      network_.send({plane, setup_.self.rank}, Channel::lags, std::as_bytes(std::span(&told_, 1)));
}

// --- the others
// -----------------------------------------------------------------------------------

void Lag::handle(Replica from, std::span<const std::byte> frame) {
  Steps done;
  const bool is_sibling = from.rank == setup_.self.rank && from.plane != setup_.self.plane &&
                          from.plane >= 0 && from.plane < setup_.planes;
  if (!is_sibling || frame.size() != sizeof done) return;
  std::memcpy(&done, frame.data(), sizeof done);
  const std::scoped_lock lock(mutex_);
  Steps& known = done_[static_cast<std::size_t>(from.plane)];
  known.messages = std::max(known.messages, done.messages);
  known.bytes = std::max(known.bytes, done.bytes);
}

void Lag::lose_plane(std::int32_t plane) {
  const std::scoped_lock lock(mutex_);
  lost_planes_ |= 1U << plane;
}

Steps Lag::ahead_of_slowest() const {
  const Steps own = done_[static_cast<std::size_t>(setup_.self.plane)];
  Steps ahead;
  for (std::int32_t plane = 0; plane < setup_.planes; ++plane) {
    const Steps& other = done_[static_cast<std::size_t>(plane)];
    if (plane == setup_.self.plane || (lost_planes_ >> plane & 1) != 0) continue;
    ahead.messages = std::max(ahead.messages, beyond(own.messages, other.messages));
    ahead.bytes = std::max(ahead.bytes, beyond(own.bytes, other.bytes));
  }
  return ahead;
}

Steps Lag::ahead() const {
  const std::scoped_lock lock(mutex_);
  return ahead_of_slowest();
}

Steps Lag::ahead_max() const {
  const std::scoped_lock lock(mutex_);
  return ahead_max_;
}

}  // namespace resprout::runtime

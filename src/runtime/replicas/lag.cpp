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
  if (note_thread() || is_repeating_.load(relaxed)) return true;
  const std::uint64_t open = setup_.open();
  const std::uint64_t bytes = messages * request_bytes + copies;
  const bool has_room_for_open =
      open == 0 || (open + messages <= setup_.bound.messages &&
                    (open + messages) * request_bytes <= setup_.bound.bytes);
  const Steps ahead = ahead_of_slowest();
  return has_room_for_open && fits(ahead.messages, messages, setup_.bound.messages) &&
         fits(ahead.bytes, bytes, setup_.bound.bytes);
}

void Lag::count(std::uint64_t messages, std::uint64_t copies) {
  if (setup_.bound == Steps::no_bound()) return;
  note_thread();
  if (is_repeating_.load(relaxed)) return;
  own().messages.fetch_add(messages, relaxed);
  own().bytes.fetch_add(messages * request_bytes + copies, relaxed);
  ahead_max_.raise_to(ahead_of_slowest());
  const Steps done = own().load();
  const Steps told = told_.load();
  if (done.messages - told.messages >= quantum_.messages ||
      done.bytes - told.bytes >= quantum_.bytes)
    tell();
}

void Lag::repeat(bool is_repeating) { is_repeating_.store(is_repeating, relaxed); }

void Lag::finish() {
  if (setup_.bound == Steps::no_bound()) return;
  own().raise_to(Steps::no_bound());
  tell();
}

// Whether there are several by now.
bool Lag::note_thread() {
  const std::thread::id own = std::this_thread::get_id();
  const std::thread::id first = thread_.load(relaxed);
  if (first == own) [[likely]]
    return has_threads_.load(relaxed);
  if (std::thread::id nobody; first == nobody && thread_.compare_exchange_strong(nobody, own))
    return has_threads_.load(relaxed);
  has_threads_.store(true, relaxed);
  return true;
}

void Lag::tell() {
  const Steps done = own().load();
  told_.raise_to(done);
  for (std::int32_t plane = 0; plane < setup_.planes; ++plane)
    if (plane != setup_.self.plane && (lost_planes_.load(relaxed) >> plane & 1) == 0)
      network_.send({plane, setup_.self.rank}, Channel::lags, std::as_bytes(std::span(&done, 1)));
}

// --- the others
// -----------------------------------------------------------------------------------

void Lag::handle(Replica from, std::span<const std::byte> frame) {
  Steps done;
  const bool is_sibling = from.rank == setup_.self.rank && from.plane != setup_.self.plane &&
                          from.plane >= 0 && from.plane < setup_.planes;
  if (!is_sibling || frame.size() != sizeof done) return;
  std::memcpy(&done, frame.data(), sizeof done);
  done_[static_cast<std::size_t>(from.plane)].raise_to(done);
}

void Lag::lose_plane(std::int32_t plane) { lost_planes_.fetch_or(1U << plane, relaxed); }

Steps Lag::ahead_of_slowest() const {
  const Steps own_steps = own().load();
  const std::uint32_t lost = lost_planes_.load(relaxed);
  Steps ahead;
  for (std::int32_t plane = 0; plane < setup_.planes; ++plane) {
    if (plane == setup_.self.plane || (lost >> plane & 1) != 0) continue;
    const Steps other = done_[static_cast<std::size_t>(plane)].load();
    ahead.messages = std::max(ahead.messages, beyond(own_steps.messages, other.messages));
    ahead.bytes = std::max(ahead.bytes, beyond(own_steps.bytes, other.bytes));
  }
  return ahead;
}

Steps Lag::ahead() const { return ahead_of_slowest(); }

Steps Lag::ahead_max() const { return ahead_max_.load(); }

void Lag::Counted::raise_to(const Steps& least) {
  const auto raise = [](std::atomic<std::uint64_t>& count, std::uint64_t to) {
    std::uint64_t now = count.load(relaxed);
    while (now < to && !count.compare_exchange_weak(now, to, relaxed)) {
    }
  };
  raise(messages, least.messages);
  raise(bytes, least.bytes);
}

}  // namespace resprout::runtime

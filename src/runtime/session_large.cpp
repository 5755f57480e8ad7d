// Broadcasts of much data: docs/protocols/slices.md.
#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/engine.hpp"
#include "runtime/offered_memory.hpp"
#include "runtime/session.hpp"

namespace resprout::runtime {
namespace {

// Below it takes longer to settle who has read all of it than to copy it twice.
constexpr std::size_t read_bytes_min = std::size_t{1} << 20;
constexpr std::size_t slice_bytes = std::size_t{64} << 10;
// Between two of these a process looks whether the session was revoked.
constexpr std::size_t read_at_once_max = std::size_t{1} << 20;

constexpr std::int32_t nobody = std::numeric_limits<std::int32_t>::max();
// What the members know together of a payload.
struct Standing {
  std::int32_t holder;      // the lowest rank of the communicator that has all of it, or nobody
  std::uint8_t is_lacked;   // by anybody
  std::uint8_t is_refused;  // somebody may not read it
};

class Together final : public Combiner {
 public:
  bool is_commutative() const override { return true; }
  bool is_for_program() const override { return false; }
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    Standing one{};
    Standing other{};
    std::memcpy(&one, lower.data(), sizeof one);
    std::memcpy(&other, upper.data(), sizeof other);
    other.holder = std::min(one.holder, other.holder);
    other.is_lacked |= one.is_lacked;
    other.is_refused |= one.is_refused;
    std::memcpy(upper.data(), &other, sizeof other);
  }
};

}  // namespace

Outcome operator+(Outcome before, const Outcome& last) {
  before.is_delivered = last.is_delivered;
  before.is_touched = before.is_touched || last.is_touched;
  before.recovery_ns += last.recovery_ns;
  for (const int rank : last.lost)
    if (std::find(before.lost.begin(), before.lost.end(), rank) == before.lost.end())
      before.lost.push_back(rank);
  return before;
}

Outcome Session::broadcast_in_slices(Lock& lock, const BroadcastSpec& spec, int root,
                                     std::span<std::byte> memory, bool has_it) {
  Outcome outcome;
  std::size_t done = 0;
  do {
    const auto slice = memory.subspan(done, std::min(slice_bytes, memory.size() - done));
    outcome = outcome + broadcast(lock, spec, root, slice, [&](std::span<const std::byte> result) {
                if (!has_it) copy_bytes(slice.data(), result.data(), result.size());
              });
    done += slice.size();
  } while (outcome.is_delivered && done < memory.size());
  return outcome;
}

// Without the lock, as it may take long.
MemoryRead Session::read_offer(Lock& lock, MemoryReader& reader, const MemoryOffer& offer,
                               std::span<std::byte> into) {
  auto read = MemoryRead::done;
  lock.unlock();
  for (std::size_t done = 0; done < into.size() && read == MemoryRead::done;) {
    const auto part = into.subspan(done, std::min(read_at_once_max, into.size() - done));
    read = is_revoked() ? MemoryRead::gone : reader.read(offer, done, part);
    done += part.size();
    if (!engine_.has_notice()) continue;
    lock.lock();
    engine_.read_notices(lock);
    lock.unlock();
  }
  if (read == MemoryRead::done) read = reader.confirm(offer);
  lock.lock();
  return read;
}

// All live members see the same of every step, so they go on or stop alike: what the root offers,
// who has all of it, and slices from one who has. After each further round one more of those is
// lost.
Outcome Session::broadcast_large(Lock& lock, const BroadcastSpec& spec,
                                 const ReduceSpec& settlement, int root,
                                 std::span<std::byte> memory, MemoryReader& reader) {
  const int self = everybody_->comm_rank(everybody_->self());
  if (!may_read_ || memory.size() < read_bytes_min)
    return broadcast_in_slices(lock, spec, root, memory, self == root);
  const auto members = members_;
  std::optional<OfferedMemory> offered;
  MemoryOffer offer;
  if (self == root) offer = offered.emplace(memory).offer();
  Outcome outcome = broadcast(
      lock, spec, root, std::as_bytes(std::span(&offer, 1)),
      [&](std::span<const std::byte> told) { std::memcpy(&offer, told.data(), sizeof offer); });
  if (!outcome.is_delivered) return outcome;
  const MemoryRead read = self == root ? MemoryRead::done : read_offer(lock, reader, offer, memory);
  const bool has_it = read == MemoryRead::done;
  for (;;) {
    Standing standing{has_it ? self : nobody, !has_it, read == MemoryRead::refused};
    Together together;
    outcome = outcome + allreduce(lock, settlement, std::as_bytes(std::span(&standing, 1)),
                                  together, [&](std::span<const std::byte> all) {
                                    std::memcpy(&standing, all.data(), sizeof standing);
                                  });
    if (!outcome.is_delivered) break;
    if (standing.is_refused != 0) may_read_ = false;
    if (standing.is_lacked == 0) break;
    outcome.is_delivered = false;
    if (standing.holder == nobody) break;
    outcome = outcome + broadcast_in_slices(lock, spec, standing.holder, memory, has_it);
    if (outcome.is_delivered || is_revoked()) break;
  }
  contributors_ = {outcome.is_delivered ? members : nullptr, {}, members->index_of_comm_rank(root)};
  return outcome;
}

}  // namespace resprout::runtime

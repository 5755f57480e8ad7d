// Broadcasts of much data: docs/explanation/protocols/slices.md.
#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/announcement.hpp"
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
  before.is_mismatched = before.is_mismatched || last.is_mismatched;
  before.recovery_ns += last.recovery_ns;
  for (const int rank : last.lost)
    if (std::find(before.lost.begin(), before.lost.end(), rank) == before.lost.end())
      before.lost.push_back(rank);
  return before;
}

Outcome Session::broadcast_in_slices(Lock& lock, const BroadcastSpec& spec, int root,
                                     std::span<std::byte> memory, std::size_t bytes, bool has_it) {
  Outcome outcome;
  std::size_t done = 0;
  do {
    const std::size_t some = std::min(slice_bytes, bytes - done);
    const auto into = memory.subspan(std::min(done, memory.size()));
    const std::span<const std::byte> slice(into.data(), some);  // only read at the root
    outcome = outcome + broadcast(lock, spec, root, slice, [&](std::span<const std::byte> result) {
                const std::size_t taken = std::min(result.size(), into.size());
                if (!has_it) copy_bytes(into.data(), result.data(), taken);
              });
    done += some;
  } while (outcome.is_delivered && done < bytes);
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
    if (!progress_.notices().has_unread()) continue;
    lock.lock();
    progress_.read_notices(lock);
    lock.unlock();
  }
  if (read == MemoryRead::done) read = reader.confirm(offer);
  lock.lock();
  return read;
}

// All live members see the same of every step, so they go on or stop alike: what the root has, who
// has all of it, and slices from one who has. After each further round one more of those is lost.
// Who takes less than there is goes along, and is told.
Outcome Session::broadcast_large(Lock& lock, const BroadcastSpec& spec,
                                 const ReduceSpec& settlement, int root,
                                 std::span<std::byte> memory, MemoryReader& reader) {
  const int self = everybody_->comm_rank(everybody_->self());
  const bool is_root = self == root;
  const auto members = members_;
  std::optional<OfferedMemory> offered;
  Announcement said{.bytes = memory.size(), .offer = {}};
  if (is_root && may_read_ && memory.size() >= read_bytes_min)
    said.offer = offered.emplace(memory).offer();
  std::size_t told = 0;
  Outcome outcome = broadcast(lock, spec, root, std::as_bytes(std::span(&said, 1)),
                              [&](std::span<const std::byte> announcement) {
                                told = announcement.size();
                                copy_bytes(&said, announcement.data(), told);
                              });
  if (!outcome.is_delivered) return outcome;
  if (told != sizeof said || said.mark != announcement_mark) {
    outcome.is_mismatched = true;
    return outcome;
  }
  outcome.is_mismatched = memory.size() < said.bytes;
  memory = memory.first(std::min<std::size_t>(memory.size(), said.bytes));
  if (said.offer.stamp == 0)
    return outcome + broadcast_in_slices(lock, spec, root, memory, said.bytes, is_root);
  const MemoryRead read = is_root ? MemoryRead::done : read_offer(lock, reader, said.offer, memory);
  const bool has_it = read == MemoryRead::done;
  const bool has_all = has_it && memory.size() == said.bytes;
  for (;;) {
    Standing standing{has_all ? self : nobody, !has_it, read == MemoryRead::refused};
    Together together;
    const Outcome settled = allreduce(lock, settlement, std::as_bytes(std::span(&standing, 1)),
                                      together, [&](std::span<const std::byte> all) {
                                        std::memcpy(&standing, all.data(), sizeof standing);
                                      });
    outcome = outcome + settled;
    if (!settled.is_delivered || settled.is_mismatched) break;
    if (standing.is_refused != 0) may_read_ = false;
    if (standing.is_lacked == 0) break;
    outcome.is_delivered = false;
    if (standing.holder == nobody) break;
    outcome =
        outcome + broadcast_in_slices(lock, spec, standing.holder, memory, said.bytes, has_it);
    if (outcome.is_delivered || is_revoked()) break;
  }
  contributors_ = {outcome.is_delivered ? members : nullptr, {}, members->index_of_comm_rank(root)};
  return outcome;
}

}  // namespace resprout::runtime

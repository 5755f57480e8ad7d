// Broadcasts of much data: docs/explanation/protocols/slices.md.
#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/announcement.hpp"
#include "runtime/collectives.hpp"

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

Outcome broadcast_in_slices(Session& session, Lock& lock, const BroadcastSpec& spec, int root,
                            std::span<std::byte> memory, std::size_t bytes, bool has_it) {
  Outcome outcome;
  std::size_t done = 0;
  do {
    const std::size_t some = std::min(slice_bytes, bytes - done);
    const auto into = memory.subspan(std::min(done, memory.size()));
    const std::span<const std::byte> slice(into.data(), some);  // only read at the root
    const auto take = [&](std::span<const std::byte> result) {
      const std::size_t taken = std::min(result.size(), into.size());
      if (!has_it) copy_bytes(into.data(), result.data(), taken);
    };
    outcome = outcome + broadcast(session, lock, spec, root, slice, take);
    done += some;
  } while (outcome.is_delivered && done < bytes);
  return outcome;
}

// Without the lock, as it may take long.
MemoryRead read_offer(Session& session, Lock& lock, MemoryReader& reader, const MemoryOffer& offer,
                      std::span<std::byte> into) {
  Progress& progress = session.progress();
  auto read = MemoryRead::done;
  lock.unlock();
  for (std::size_t done = 0; done < into.size() && read == MemoryRead::done;) {
    const auto part = into.subspan(done, std::min(read_at_once_max, into.size() - done));
    read = session.is_revoked() ? MemoryRead::gone : reader.read(offer, done, part);
    done += part.size();
    if (!progress.notices().has_unread()) continue;
    lock.lock();
    progress.read_notices(lock);
    lock.unlock();
  }
  if (read == MemoryRead::done) read = reader.confirm(offer);
  lock.lock();
  return read;
}

}  // namespace

// All live members see the same of every step, so they go on or stop alike: what the root has, who
// has all of it, and slices from one who has. After each further round one more of those is lost.
// Who takes less than there is goes along, and is told.
Outcome broadcast_large(Session& session, Lock& lock, const BroadcastSpec& spec,
                        const ReduceSpec& settlement, int root, std::span<std::byte> memory,
                        MemoryReader& reader) {
  const int self = session.everybody().comm_rank(session.everybody().self());
  const bool is_root = self == root;
  const auto members = session.shared_members();
  std::optional<OfferedMemory> offered;
  Announcement said{.bytes = memory.size(), .offer = {}};
  if (is_root && session.may_read() && memory.size() >= read_bytes_min)
    said.offer = offered.emplace(memory).offer();
  std::size_t told = 0;
  Outcome outcome = broadcast(session, lock, spec, root, std::as_bytes(std::span(&said, 1)),
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
    return outcome + broadcast_in_slices(session, lock, spec, root, memory, said.bytes, is_root);
  const MemoryRead read =
      is_root ? MemoryRead::done : read_offer(session, lock, reader, said.offer, memory);
  const bool has_it = read == MemoryRead::done;
  const bool has_all = has_it && memory.size() == said.bytes;
  for (;;) {
    Standing standing{has_all ? self : nobody, !has_it, read == MemoryRead::refused};
    Together together;
    const Outcome settled =
        allreduce(session, lock, settlement, std::as_bytes(std::span(&standing, 1)), together,
                  [&](std::span<const std::byte> all) {
                    std::memcpy(&standing, all.data(), sizeof standing);
                  });
    outcome = outcome + settled;
    if (!settled.is_delivered || settled.is_mismatched) break;
    if (standing.is_refused != 0) session.read_no_more();
    if (standing.is_lacked == 0) break;
    outcome.is_delivered = false;
    if (standing.holder == nobody) break;
    outcome = outcome +
              broadcast_in_slices(session, lock, spec, standing.holder, memory, said.bytes, has_it);
    if (outcome.is_delivered || session.is_revoked()) break;
  }
  if (outcome.is_delivered)
    session.contributors().set(members, {}, members->index_of_comm_rank(root));
  else
    session.contributors().clear();
  return outcome;
}

}  // namespace resprout::runtime

#include "runtime/replicas/states.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/invariant.hpp"
#include "runtime/mutex.hpp"

namespace resprout::runtime {
namespace {

struct Head {
  std::uint64_t total;   // bytes of the whole state
  std::uint64_t offset;  // of those that follow
};

}  // namespace

void give_state(ChannelNetwork& network, Replica to, std::span<const std::byte> state) {
  RESPROUT_INVARIANT(!state.empty());
  std::vector<std::byte> frame;
  for (std::size_t offset = 0; offset < state.size(); offset += state_frame_bytes_max) {
    const auto part = state.subspan(offset, std::min(state_frame_bytes_max, state.size() - offset));
    const Head head{state.size(), offset};
    frame.resize(sizeof head + part.size());
    std::memcpy(frame.data(), &head, sizeof head);
    std::memcpy(frame.data() + sizeof head, part.data(), part.size());
    network.send(to, Channel::states, frame);
  }
}

void StateTaker::handle(Replica from, std::span<const std::byte> frame) {
  Head head{};
  const bool is_sibling = from.rank == self_.rank && from.plane != self_.plane && from.plane >= 0 &&
                          from.plane < planes_;
  if (!is_sibling || frame.size() <= sizeof head) return;
  std::memcpy(&head, frame.data(), sizeof head);
  const auto part = frame.subspan(sizeof head);
  const MutexLock lock(mutex_);
  Heard& heard = heard_[static_cast<std::size_t>(from.plane)];
  const bool is_next = head.offset == heard.bytes.size() && part.size() <= head.total - head.offset;
  if (!is_next || (heard.total != 0 && heard.total != head.total)) return;
  heard.total = head.total;
  heard.bytes.insert(heard.bytes.end(), part.begin(), part.end());
}

void StateTaker::lose_plane(std::int32_t plane) {
  const MutexLock lock(mutex_);
  heard_[static_cast<std::size_t>(plane)].is_lost = true;
}

std::optional<std::vector<std::byte>> StateTaker::take() {
  const MutexLock lock(mutex_);
  for (Heard& heard : heard_) {
    if (heard.total == 0 || heard.bytes.size() != heard.total) continue;
    heard.total = 0;
    return std::exchange(heard.bytes, {});
  }
  return std::nullopt;
}

bool StateTaker::is_hopeless() const {
  const MutexLock lock(mutex_);
  for (std::int32_t plane = 0; plane < planes_; ++plane)
    if (plane != self_.plane && !heard_[static_cast<std::size_t>(plane)].is_lost) return false;
  return true;
}

}  // namespace resprout::runtime

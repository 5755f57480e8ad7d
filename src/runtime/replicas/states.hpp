// What a plane that came back is told: the state of the program, by each rank's siblings. Bytes of
// any number, in frames that are not too large for the links.
//
// All siblings say the same, so the first that has said all of it is enough, and one that dies in
// the middle does no harm.
// Thread rule: `give_state` as the network's `send`; StateTaker from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocols/digest_vote/message.hpp"
#include "runtime/mutex.hpp"
#include "runtime/replicas/channels.hpp"
#include "runtime/replicas/replica.hpp"

namespace resprout::runtime {

inline constexpr std::size_t state_frame_bytes_max = 16 << 20;

// REQUIRES: it is not empty.
void give_state(ChannelNetwork& network, Replica to, std::span<const std::byte> state);

class StateTaker {
 public:
  StateTaker(Replica self, std::int32_t planes) : self_(self), planes_(planes) {}
  StateTaker(const StateTaker&) = delete;
  StateTaker& operator=(const StateTaker&) = delete;

  // For the links: a frame of the channel of states. What cannot be from there is passed over.
  void handle(Replica from, std::span<const std::byte> frame);
  void lose_plane(std::int32_t plane);

  // Nothing: nobody has said all of it yet. Asked successfully, it forgets it.
  std::optional<std::vector<std::byte>> take();
  // Nobody lives who could say it.
  bool is_hopeless() const;

 private:
  struct Heard {
    std::vector<std::byte> bytes;
    std::uint64_t total = 0;  // 0: nothing was said
    bool is_lost = false;
  };
  const Replica self_;
  const std::int32_t planes_;
  mutable Mutex mutex_;
  std::array<Heard, protocols::degree_max> heard_ RESPROUT_GUARDED_BY(mutex_);  // by plane
};

}  // namespace resprout::runtime

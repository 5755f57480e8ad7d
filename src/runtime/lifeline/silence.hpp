// How long a peer has been silent, fairly measured: time in which this process itself was kept from
// running is nobody's silence (local health, as in Lifeguard, Dadgar et al. 2018).
//
// Thread rule: a value.
#pragma once

#include <algorithm>
#include <cstdint>

namespace resprout::runtime {

class Silence {
 public:
  void start(std::int64_t now) { since_ = now; }
  void handle_sound(std::int64_t now) { since_ = now; }
  // This process ran `late_ns` later than it had asked to.
  void forgive(std::int64_t now, std::int64_t late_ns) { since_ = std::min(now, since_ + late_ns); }
  std::int64_t length_ns(std::int64_t now) const { return now - since_; }

 private:
  std::int64_t since_ = 0;
};

}  // namespace resprout::runtime

// To whom the parts of the lifeline tell what they find out.
//
// Thread rule: the lifeline's thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/lifeline/loss.hpp"

namespace resprout::runtime {

// The same finding may be told any number of times, by any part.
class Findings {
 public:
  // `loss.rank` may be this process itself.
  virtual void handle_loss(const Loss& loss) = 0;
  virtual void handle_left(int rank) = 0;
  // `by` hears nothing of this process on their data link.
  virtual void handle_question(int by) = 0;
  // `rank` has answered such a question of this process's.
  virtual void handle_at_work(int rank) = 0;
  // Somebody reports the link between the two.
  virtual void handle_silent_link(int one, int other) = 0;
  // `from` says this, a message of the membership.
  virtual void handle_message(int from, std::span<const std::uint8_t> message) = 0;
  // Who connects from there says to speak this version of the protocol, which is not ours.
  virtual void handle_other_version(const std::string& from, int version) = 0;

 protected:
  ~Findings() = default;
};

}  // namespace resprout::runtime

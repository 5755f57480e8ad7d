// What the exchange of one replicated message has come to when nothing more happens, and whether
// that is what it promises.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace resprout::sim {

enum class VoteEnd : std::uint8_t { open, finished, undecided, lost };

struct DigestVoteOutcome {
  bool is_survivor = false;  // has entered, lives, and was never suspected by anybody
  // Of a sender: something that was said of its copy was corrupted. Rests are of receivers.
  bool is_corrupted = false;
  bool failed = false;  // ended without the right data
  VoteEnd end = VoteEnd::open;
  int agreeing = 0;               // as it said at the end
  int origin = -1;                // of what the program has at the end; -1: it has nothing
  bool is_right = false;          // that is what the sender meant to send
  bool is_confirmed = false;      // it said so
  bool is_tainted = false;        // it said so
  bool was_wrong = false;         // what was delivered first was corrupted
  bool saw_mismatch = false;      // it said so
  bool heard_corruption = false;  // a corrupted share or answer reached it before it ended
  std::uint32_t outvoted = 0;     // bit i: it said so of origin i
};

// The senders' outcomes, then the receivers', as many. Of every receiver who survives:
//  1. it ended, and nobody's fault but a corruption's is that it ended undecided, nobody's but that
//     of the dead that it lost the data;
//  2. if two origins agreed on what it has, that is right; if none did, no other sender survives;
//  3. what is corrupted was noticed, and nothing else was said to be;
//  4. at degree 3 a corruption alone costs nobody anything; nor do crashes alone, as long as a
//     sender lives.
std::optional<std::string> check_digest_vote(std::span<const DigestVoteOutcome> outcomes);

}  // namespace resprout::sim

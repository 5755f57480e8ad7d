// Which processes are to be asked whether they send: those whose port is free, and who have handled
// something or got their port back since they were asked last. 64 processes are one word, and 64
// words, or a block, have one word that says in which of them somebody is to be asked.
//
// Invariants
//  1. A busy port is freed exactly once, `spacing` after it was taken.
//  2. Who is to be asked is in one of the blocks from `first_` to `last_`.
// Cost of asking: of those who are to be asked, and of the blocks between the first and the last of
// them: not of all processes, or a chain, in which time never stands still, took quadratic time.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/rank.hpp"
#include "core/time.hpp"
#include "sim/logp/time_wheel.hpp"

namespace resprout::sim {

class SendPorts {
 public:
  // A send holds its port for `spacing`.
  SendPorts(std::int32_t procs, Duration spacing)
      : words_(static_cast<std::size_t>(procs) / 64 + 1),
        blocks_(words_.size() / 64 + 1),
        spacing_(spacing),
        freed_(spacing) {}

  // The port of `rank` is never free again, until all are opened.
  void close(Rank rank) {
    const auto at = static_cast<std::uint32_t>(index(rank));
    words_[at / 64].closed |= std::uint64_t{1} << (at % 64);
  }
  // REQUIRES: no port is busy.
  void open() {
    for (Word& word : words_) word = {};
    for (std::uint64_t& block : blocks_) block = 0;
    first_ = no_block;
    last_ = 0;
  }

  // `rank` is to be asked as soon as its port is free.
  void want(Rank rank) {
    const auto at = static_cast<std::uint32_t>(index(rank));
    want(at / 64, std::uint64_t{1} << (at % 64));
  }

  // When the next port becomes free; REQUIRES: all until `now` are.
  Time next(Time now) const { return freed_.next(now); }

  // Asks all that are to be asked at `now`, in ascending order: sends(rank) tells whether `rank`
  // takes its port. It must not call `want`.
  template <typename F>
  void drain(Time now, F sends) {
    freed_.drain(now, [this](const Group& group) {
      words_[group.at].busy &= ~group.ranks;
      want(group.at, group.ranks);
    });
    for (std::uint32_t block = first_; block <= last_; ++block) {
      for (std::uint64_t words = blocks_[block]; words != 0; words &= words - 1)
        ask(now, block * 64 + static_cast<std::uint32_t>(std::countr_zero(words)), sends);
      blocks_[block] = 0;
    }
    first_ = no_block;
    last_ = 0;
  }

 private:
  struct Word {
    std::uint64_t wanting = 0;
    std::uint64_t busy = 0;
    std::uint64_t closed = 0;
  };
  struct Group {
    std::uint64_t ranks;
    std::uint32_t at;  // in words_
  };

  static constexpr std::uint32_t no_block = UINT32_MAX;

  void want(std::uint32_t at, std::uint64_t ranks) {
    words_[at].wanting |= ranks;
    blocks_[at / 64] |= std::uint64_t{1} << (at % 64);
    first_ = std::min(first_, at / 64);
    last_ = std::max(last_, at / 64);
  }

  // Those of a word. REQUIRES: as drain.
  template <typename F>
  void ask(Time now, std::uint32_t at, F& sends) {
    Word& word = words_[at];
    const std::uint64_t busy = word.busy;
    for (std::uint64_t asked = word.wanting & ~(busy | word.closed); asked != 0;
         asked &= asked - 1) {
      const int bit = std::countr_zero(asked);
      if (sends(rank_at(static_cast<std::int32_t>(at * 64) + bit)))
        word.busy |= asked & (0 - asked);
    }
    word.wanting = 0;
    if (word.busy != busy) freed_.push(now, now + spacing_, {word.busy ^ busy, at});
  }

  std::vector<Word> words_;
  std::vector<std::uint64_t> blocks_;  // a bit for each word with somebody who is to be asked
  std::uint32_t first_ = no_block;
  std::uint32_t last_ = 0;
  Duration spacing_;
  TimeWheel<Group> freed_;
};

}  // namespace resprout::sim

// Which processes are to be asked whether they send: those whose port is free, and who have handled
// something or got their port back since they were asked last. 64 processes are one word.
//
// Invariants
//  1. A busy port is freed exactly once, `spacing` after it was taken.
// Thread rule: one thread.
#pragma once

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
      : words_(static_cast<std::size_t>(procs) / 64 + 1), spacing_(spacing), freed_(spacing) {}

  // The port of `rank` is never free again, until all are opened.
  void close(Rank rank) {
    const auto at = static_cast<std::uint32_t>(index(rank));
    words_[at / 64].closed |= std::uint64_t{1} << (at % 64);
  }
  // REQUIRES: no port is busy.
  void open() {
    for (Word& word : words_) word = {};
  }

  // `rank` is to be asked as soon as its port is free.
  void want(Rank rank) {
    const auto at = static_cast<std::uint32_t>(index(rank));
    words_[at / 64].wanting |= std::uint64_t{1} << (at % 64);
  }

  // When the next port becomes free; REQUIRES: all until `now` are.
  Time next(Time now) const { return freed_.next(now); }

  // Asks all that are to be asked at `now`, in ascending order: sends(rank) tells whether `rank`
  // takes its port. It must not call `want`.
  template <typename F>
  void drain(Time now, F sends) {
    freed_.drain(now, [this](const Group& group) {
      words_[group.at].busy &= ~group.ranks;
      words_[group.at].wanting |= group.ranks;
    });
    for (std::uint32_t at = 0; at < words_.size(); ++at) {
      Word& word = words_[at];
      if (word.wanting == 0) continue;
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

  std::vector<Word> words_;
  Duration spacing_;
  TimeWheel<Group> freed_;
};

}  // namespace resprout::sim

// What the program was told of decisions since its last checkpoint, to be told again when it goes
// back there.
//
// Polls that fail take no memory of their own: of a row of them the number is kept.
// Thread rule: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace resprout::runtime {

class DecisionRecord {
 public:
  using Bytes = std::vector<std::byte>;
  // Of one call of the program. Without an answer it was a poll that said no.
  struct Entry {
    std::uint32_t kind = 0;  // of an answer
    std::optional<Bytes> answer;

    bool is_answered() const { return answer.has_value(); }
  };

  void note(std::uint32_t kind, const std::optional<Bytes>& answer);
  // next() begins with the first one again.
  void rewind();
  // Nothing: there is no more.
  std::optional<Entry> next();
  bool is_through() const;

 private:
  struct Run {
    std::uint64_t refusals = 0;  // first so many, and then
    Entry answered;              // this, if it is answered
  };
  std::vector<Run> runs_;
  std::size_t at_ = 0;         // the run of next()
  std::uint64_t refused_ = 0;  // of its refusals
};

}  // namespace resprout::runtime

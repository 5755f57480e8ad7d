// The messages of a membership, byte by byte. Two carry them: members over TCP
// (runtime/member) and the lifelines of a job (runtime/lifeline/views.hpp).
//
// Numbers are little-endian. A set is 2 bytes of length in words and those words of 8 bytes. A
// message is 4 from, 4 to, 1 kind, 4 about, 4 + 4 ballot (coordinator, attempt), 8 epoch, and the
// sets members of the view, fenced, dead, members of the next one, answered.
//
// Thread rule: values and pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocols/membership/membership.hpp"

namespace resprout::runtime {

class ByteWriter {
 public:
  using Ids = protocols::LargeMembership::Ids;

  void number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void id(Rank rank) { number(static_cast<std::uint32_t>(index(rank)), 4); }
  void ids(const Ids& ids) {
    std::vector<std::uint64_t> words;
    ids.for_each([&words](Rank rank) {
      const auto word = static_cast<std::size_t>(index(rank)) / 64;
      if (words.size() <= word) words.resize(word + 1);
      words[word] |= std::uint64_t{1} << (index(rank) % 64);
    });
    number(words.size(), 2);
    for (const std::uint64_t word : words) number(word, 8);
  }
  void message(const protocols::LargeMembership::Message& message) {
    id(message.from);
    id(message.to);
    number(static_cast<std::uint64_t>(message.kind), 1);
    id(message.about);
    id(message.ballot.coordinator);
    number(static_cast<std::uint32_t>(message.ballot.attempt), 4);
    number(message.view.epoch, 8);
    for (const Ids& each :
         {message.view.members, message.fenced, message.dead, message.members, message.answered})
      ids(each);
  }

  std::vector<std::uint8_t> bytes;
};

class ByteReader {
 public:
  using Ids = protocols::LargeMembership::Ids;

  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{take()} << (8 * i);
    return value;
  }
  // An identifier or no_rank.
  Rank id() {
    const auto value = static_cast<std::int32_t>(number(4));
    if (value < -1 || value >= Ids::capacity) is_good_ = false;
    return is_good_ ? rank_at(value) : no_rank;
  }
  Ids ids() {
    Ids ids;
    const std::uint64_t words = number(2);
    if (words * 64 > static_cast<std::uint64_t>(Ids::capacity)) is_good_ = false;
    for (std::uint64_t i = 0; i < words && is_good_; ++i) {
      std::uint64_t word = number(8);
      for (; word != 0; word &= word - 1)
        ids.add(rank_at(static_cast<std::int32_t>(i) * 64 + std::countr_zero(word)));
    }
    return ids;
  }
  // False: it makes no sense.
  bool message(protocols::LargeMembership::Message& message) {
    message.from = id();
    message.to = id();
    const std::uint64_t kind = number(1);
    if (kind > static_cast<std::uint64_t>(protocols::MembershipKind::probe)) return false;
    message.kind = static_cast<protocols::MembershipKind>(kind);
    message.about = id();
    message.ballot.coordinator = id();
    message.ballot.attempt = static_cast<std::int32_t>(number(4));
    message.view.epoch = number(8);
    for (Ids* each : {&message.view.members, &message.fenced, &message.dead, &message.members,
                      &message.answered})
      *each = ids();
    return is_good_ && message.from != no_rank && message.to != no_rank;
  }
  bool is_good() const { return is_good_; }
  bool is_at_end() const { return is_good_ && bytes_.empty(); }

 protected:
  std::uint8_t take() {
    if (bytes_.empty()) {
      is_good_ = false;
      return 0;
    }
    const std::uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool is_good_ = true;
};

}  // namespace resprout::runtime

// What is said over a link, 32 bytes each, as they stand in memory; and messages of the membership
// (views.hpp), which follow the news that announces them.
//
//   byte 0   4  kind
//        4   4  rank: whom it is about
//        8   4  by: who found the loss; who accuses or asks
//       12   4  serial: of the accusation or question, counted by who accuses or asks
//       16   8  time: CLOCK_REALTIME ns of the detection
//       24   4  loss kind
//       28   4  length of what follows; 0 but for `message`
//
// Thread rule: values and a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace resprout::runtime {

// A message of the membership has five sets of 4096 identifiers and some numbers.
inline constexpr std::size_t message_bytes_max = 4096;

enum class NewsKind : std::uint32_t {
  heartbeat = 1,   // from neighbour to neighbour; all others are a flood
  lost = 2,        // `rank` is lost
  left = 3,        // `rank` said goodbye
  accusation = 4,  // nothing is heard of `rank`: does anybody on its host know it to be alive?
  alive = 5,       // the answer: it is there, or is being looked after
  question = 6,    // nothing comes from `rank` on its data link with `by`: is it at work?
  at_work = 7,     // the answer: it is, and has answered on that link
  silent = 8,      // the data link between `rank` and `by` is silent though both are at work
  message = 9,     // of the membership, from neighbour to neighbour: `length` bytes follow
};

struct News {
  NewsKind kind = NewsKind::heartbeat;
  std::int32_t rank = -1;
  std::int32_t by = -1;
  std::uint32_t serial = 0;
  std::int64_t time_ns = 0;
  std::uint32_t loss_kind = 0;
  std::uint32_t length = 0;
};
static_assert(sizeof(News) == 32 && std::is_trivially_copyable_v<News>);

// As it comes out of a link.
struct Said {
  News news;
  std::vector<std::uint8_t> message;  // of NewsKind::message only
};

// Appends what `bytes` say as a whole; how many of them that was. Nothing: they make no sense.
std::optional<std::size_t> read_news(std::span<const std::uint8_t> bytes, std::vector<Said>& said);

}  // namespace resprout::runtime

// Boards on which threads put up notices: who reads what, in which order, and when there is no
// room.
#include "runtime/notice_board.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

struct Memory {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(NoticeBoard::notices_max);
  NoticeBoard board() { return NoticeBoard(reinterpret_cast<std::byte*>(words.data())); }
};

TEST_CASE("notice board: many write at once, and all read the same, each notice once") {
  constexpr std::uint64_t writers = 4;
  constexpr std::uint64_t each = 500;
  Memory memory;
  std::vector<std::vector<std::uint64_t>> read(writers);
  std::vector<std::thread> threads;
  for (std::uint64_t self = 0; self < writers; ++self)
    threads.emplace_back([&, self] {
      const NoticeBoard board = memory.board();
      std::vector<std::uint64_t>& mine = read[self];
      for (std::uint64_t i = 0; mine.size() < writers * each; ++i) {
        for (const std::uint64_t by : {self, (self + 1) % writers})
          if (i < each) REQUIRE(board.post(1 + by * each + i, 0));
        while (const std::uint64_t notice = board.at(mine.size())) mine.push_back(notice);
        if (i >= each) std::this_thread::yield();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : read) CHECK(other == read[0]);
  std::vector<std::uint64_t> sorted = read[0];
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
}

TEST_CASE("notice board: a full one refuses, and says so of what is new only") {
  Memory memory;
  const NoticeBoard board = memory.board();
  for (std::uint64_t i = 0; i < NoticeBoard::notices_max; ++i) REQUIRE(board.post(i + 1, i));
  CHECK_FALSE(board.post(NoticeBoard::notices_max + 1, 0));
  CHECK(board.post(7, 0));
  CHECK_FALSE(board.post(7, 7));  // read already
  CHECK(board.at(NoticeBoard::notices_max) == 0);
}

TEST_CASE("notice board: without memory nothing can be said") {
  const NoticeBoard none;
  CHECK(none.at(0) == 0);
  CHECK_FALSE(none.post(1, 0));
}

}  // namespace
}  // namespace resprout::runtime

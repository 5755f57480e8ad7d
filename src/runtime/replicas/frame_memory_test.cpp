#include "runtime/replicas/frame_memory.hpp"

#include <deque>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::runtime;

namespace {

std::vector<std::byte> bytes_from(std::size_t first, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>((first + i) * 7);
  return bytes;
}

bool is_at(const FrameMemory& memory, const FrameMemory::Place& place,
           const std::vector<std::byte>& bytes) {
  const auto found = memory.at(place);
  return found && std::equal(found->begin(), found->end(), bytes.begin(), bytes.end());
}

}  // namespace

TEST_CASE("frame memory: what one end writes the other one reads, until there is no room") {
  auto writes = FrameMemory::create(7);
  REQUIRE(writes);
  auto reads = FrameMemory::open(writes->name());
  REQUIRE(reads);
  struct Frame {
    FrameMemory::Place place;
    std::vector<std::byte> bytes;
  };
  std::deque<Frame> unread;
  std::uint64_t random = 1;
  int refused = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    const std::vector<std::byte> head = bytes_from(i, splitmix64(random) % 200);
    const std::vector<std::byte> rest = bytes_from(i + 1, splitmix64(random) % 300'000);
    std::vector<std::byte> all = head;
    all.insert(all.end(), rest.begin(), rest.end());
    if (const auto place = writes->write(head, rest)) {
      unread.push_back({*place, std::move(all)});
    } else {
      ++refused;
      REQUIRE(!unread.empty());
    }
    // At times the reader is behind, at times it has read all.
    const std::size_t left = i / 100 % 2 == 0 ? 100 : splitmix64(random) % 3;
    for (; unread.size() > left || (!unread.empty() && refused % 2 == 1); unread.pop_front()) {
      refused += refused % 2;
      REQUIRE(is_at(*reads, unread.front().place, unread.front().bytes));
      reads->free(unread.front().place);
    }
  }
  CHECK(refused > 10);
}

TEST_CASE("frame memory: a frame has all of it, one that is larger none, an empty one is rewound") {
  auto memory = FrameMemory::create(7);
  REQUIRE(memory);
  const std::vector<std::byte> all = bytes_from(3, FrameMemory::capacity);
  for (int i = 0; i < 3; ++i) {
    const auto place = memory->write({}, all);
    REQUIRE(place);
    CHECK(is_at(*memory, *place, all));
    CHECK(!memory->write(bytes_from(0, 1), {}));
    memory->free(*place);
  }
  CHECK(!memory->write(bytes_from(0, 1), all));
  for (int i = 0; i < 3; ++i) {
    const auto small = memory->write(bytes_from(0, 1), {});
    REQUIRE(small);
    CHECK(small->begin % FrameMemory::capacity == 0);
    memory->free(*small);
  }
}

TEST_CASE("frame memory: nobody opens what is closed or another's, nor finds a frame beyond it") {
  auto memory = FrameMemory::create(7);
  REQUIRE(memory);
  FrameMemory::Name name = memory->name();
  name.key = 8;
  CHECK(!FrameMemory::open(name));
  name.key = 7;
  CHECK(FrameMemory::open(name));
  memory->close();
  CHECK(!FrameMemory::open(name));
  CHECK(!FrameMemory::open({name.pid, 1 << 20, 7}));
  CHECK(!memory->at({1, FrameMemory::capacity}));
  CHECK(!memory->at({0, FrameMemory::capacity + 1}));
  CHECK(!memory->at({5, ~std::uint64_t{0}}));
}

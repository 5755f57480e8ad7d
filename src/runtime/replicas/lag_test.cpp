#include "runtime/replicas/lag.hpp"

#include <cstring>
#include <thread>
#include <vector>

#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::runtime;

namespace {

constexpr std::int32_t own_rank = 5;
const Lag::Setup ten_messages{.self = {0, own_rank}, .planes = 3, .bound = {10, 1 << 20}};

struct Told final : ChannelNetwork {
  void send(Replica to, Channel channel, std::span<const std::byte> frame) override {
    REQUIRE(channel == Channel::lags);
    REQUIRE(frame.size() == sizeof(Steps));
    Steps steps;
    std::memcpy(&steps, frame.data(), sizeof steps);
    frames.emplace_back(to, steps);
  }
  std::vector<std::pair<Replica, Steps>> frames;
};

void hear(Lag& lag, std::int32_t plane, Steps done, std::int32_t rank = own_rank) {
  lag.handle({plane, rank}, std::as_bytes(std::span(&done, 1)));
}

bool has_room(Lag& lag) { return lag.has_room(1, 0); }

}  // namespace

TEST_CASE("lag: without a bound nobody is held up, and nothing is said") {
  Told told;
  Lag lag({.self = {0, own_rank}}, told);
  lag.count(1'000'000, 1 << 30);
  CHECK(has_room(lag));
  lag.finish();
  CHECK(told.frames.empty());
}

TEST_CASE("lag: as many messages as the bound has room, and not one more") {
  Told told;
  Lag lag(ten_messages, told);
  for (int i = 0; i < 10; ++i) {
    CHECK(has_room(lag));
    lag.count(1, 0);
  }
  CHECK_FALSE(has_room(lag));
  CHECK(lag.ahead().messages == 10);
  CHECK(lag.ahead_max().messages == 10);
}

TEST_CASE("lag: the slowest replica counts, and only replicas") {
  Told told;
  Lag lag(ten_messages, told);
  lag.count(10, 0);
  hear(lag, 1, {10, 10 * Lag::request_bytes});
  CHECK_FALSE(has_room(lag));
  hear(lag, 2, {9, 9 * Lag::request_bytes}, own_rank + 1);
  hear(lag, 3, {9, 0});
  hear(lag, 0, {0, 0});
  CHECK_FALSE(has_room(lag));
  hear(lag, 2, {9, 9 * Lag::request_bytes});
  CHECK(has_room(lag));
  CHECK(lag.ahead().messages == 1);
}

TEST_CASE("lag: a plane that is lost holds nobody up") {
  Told told;
  Lag lag(ten_messages, told);
  lag.count(10, 0);
  hear(lag, 1, {10, 10 * Lag::request_bytes});
  lag.lose_plane(2);
  CHECK(has_room(lag));
  CHECK(lag.ahead() == Steps{0, 0});
}

TEST_CASE("lag: a replica that does no more holds nobody up") {
  Told told;
  Lag behind(ten_messages, told);
  behind.finish();
  REQUIRE(told.frames.size() == 2);
  Told unused;
  Lag lag({.self = {1, own_rank}, .bound = {10, 1 << 20}}, unused);
  lag.count(500, 1 << 30);
  CHECK_FALSE(has_room(lag));
  hear(lag, 0, told.frames.front().second);
  CHECK(has_room(lag));
}

TEST_CASE("lag: replicas hear of every quarter of the bound, in messages and in bytes") {
  Told told;
  Lag lag({.self = {0, own_rank}, .planes = 3, .bound = {8, 1 << 20}}, told);
  lag.count(1, 0);
  CHECK(told.frames.empty());
  lag.count(1, 0);
  REQUIRE(told.frames.size() == 2);
  CHECK(told.frames[0] == std::pair{Replica{1, own_rank}, Steps{2, 2 * Lag::request_bytes}});
  CHECK(told.frames[1].first == Replica{2, own_rank});
  lag.count(1, (1 << 18) - Lag::request_bytes);
  CHECK(told.frames.size() == 4);
  lag.lose_plane(1);
  lag.count(2, 0);
  CHECK(told.frames.size() == 5);
}

TEST_CASE("lag: copies count as bytes, and one of more than the bound goes alone") {
  Told told;
  Lag lag({.self = {0, own_rank}, .bound = {1000, 1 << 20}}, told);
  CHECK(lag.has_room(1, 5 << 20));
  lag.count(1, 1 << 19);
  CHECK(lag.has_room(1, 1 << 18));
  CHECK_FALSE(lag.has_room(1, 1 << 19));
  CHECK_FALSE(lag.has_room(1, 5 << 20));
  hear(lag, 1, {1, (1 << 19) + Lag::request_bytes});
  CHECK(lag.has_room(1, 5 << 20));
}

TEST_CASE("lag: requests that wait for a verdict are bounded, too, and none is no reason to wait") {
  std::uint64_t open = 0;
  Told told;
  Lag lag({.self = {0, own_rank}, .bound = {2, 1 << 20}, .open = [&] { return open; }}, told);
  CHECK(lag.has_room(2, 0));
  open = 1;
  CHECK(lag.has_room(1, 0));
  CHECK_FALSE(lag.has_room(2, 0));
  open = 2;
  CHECK_FALSE(lag.has_room(1, 0));
  Lag narrow({.self = {0, own_rank},
              .bound = {1000, 3 * Lag::request_bytes},
              .open = [&] { return open; }},
             told);
  CHECK(narrow.has_room(1, 0));
  open = 3;
  CHECK_FALSE(narrow.has_room(1, 0));
}

TEST_CASE("lag: who waits says so once, goes on with other things, and hears of room") {
  Told told;
  Lag lag(ten_messages, told);
  int before = 0;
  int meanwhile = 0;
  const auto wait = [&] {
    lag.wait_for_room(
        1, 0, [&] { ++before; },
        [&] {
          if (++meanwhile == 3) hear(lag, 1, {9, 1 << 19});
          if (meanwhile == 5) hear(lag, 2, {9, 1 << 19});
        });
  };
  wait();
  CHECK((before == 0 && meanwhile == 0));
  lag.count(10, 0);
  wait();
  CHECK((before == 1 && meanwhile == 5));
}

TEST_CASE("lag: a program that calls from several threads is not held up") {
  Told told;
  Lag lag(ten_messages, told);
  lag.count(10, 0);
  REQUIRE_FALSE(has_room(lag));
  std::thread([&] { CHECK(has_room(lag)); }).join();
  CHECK(has_room(lag));
}

TEST_CASE("lag: what has another length is no frame") {
  Told told;
  Lag lag(ten_messages, told);
  lag.count(10, 0);
  const std::vector<std::byte> frame(sizeof(Steps) + 1, std::byte{0xff});
  lag.handle({1, own_rank}, frame);
  lag.handle({1, own_rank}, {});
  lag.handle({2, own_rank}, frame);
  CHECK(lag.ahead().messages == 10);
}

TEST_CASE("lag: what is done again is neither counted nor held up") {
  Told told;
  Lag lag(ten_messages, told);
  lag.count(10, 0);
  CHECK_FALSE(has_room(lag));
  lag.repeat(true);
  CHECK(has_room(lag));
  lag.count(5, 0);
  lag.repeat(false);
  CHECK(lag.ahead().messages == 10);
  CHECK_FALSE(has_room(lag));
}

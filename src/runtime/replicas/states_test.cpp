#include "runtime/replicas/states.hpp"

#include <utility>
#include <vector>

#include "doctest/doctest.h"

using namespace resprout::runtime;

namespace {

class Sent final : public ChannelNetwork {
 public:
  void send(Replica, Channel channel, std::span<const std::byte> frame) override {
    CHECK(channel == Channel::states);
    frames.emplace_back(frame.begin(), frame.end());
  }
  std::vector<std::vector<std::byte>> frames;
};

std::vector<std::byte> state_of(std::size_t bytes) {
  std::vector<std::byte> state(bytes);
  for (std::size_t i = 0; i < bytes; ++i) state[i] = static_cast<std::byte>(i * 7 + i / 251);
  return state;
}

std::vector<std::vector<std::byte>> frames_of(const std::vector<std::byte>& state) {
  Sent sent;
  give_state(sent, {1, 3}, state);
  return std::move(sent.frames);
}

constexpr Replica self{1, 3};

}  // namespace

TEST_CASE("states: a state is taken when its last frame has come, and only once") {
  const auto state = state_of(2 * state_frame_bytes_max + 5);
  const auto frames = frames_of(state);
  REQUIRE(frames.size() == 3);
  StateTaker taker(self, 2);
  for (const auto& frame : frames) {
    CHECK_FALSE(taker.take());
    taker.handle({0, 3}, frame);
  }
  CHECK(taker.take() == state);
  CHECK_FALSE(taker.take());
}

TEST_CASE("states: of two siblings one may die in the middle") {
  const auto state = state_of(state_frame_bytes_max + 1);
  const auto frames = frames_of(state);
  StateTaker taker(self, 3);
  taker.handle({0, 3}, frames[0]);
  taker.lose_plane(0);
  taker.handle({2, 3}, frames[0]);
  CHECK_FALSE(taker.take());
  CHECK_FALSE(taker.is_hopeless());
  taker.handle({2, 3}, frames[1]);
  CHECK(taker.take() == state);
}

TEST_CASE("states: if all siblings die nobody will say it") {
  StateTaker taker(self, 3);
  taker.lose_plane(2);
  CHECK_FALSE(taker.is_hopeless());
  taker.lose_plane(0);
  CHECK(taker.is_hopeless());
}

TEST_CASE("states: what is not from a sibling, or not the next part, is passed over") {
  const auto state = state_of(state_frame_bytes_max + 1);
  const auto frames = frames_of(state);
  StateTaker taker(self, 2);
  taker.handle({0, 2}, frames[0]);  // another rank
  taker.handle({1, 3}, frames[0]);  // itself
  taker.handle({2, 3}, frames[0]);  // there is no such plane
  taker.handle({0, 3}, frames[1]);  // the first part is missing
  taker.handle({0, 3}, {});
  taker.handle({0, 3}, frames[0]);
  taker.handle({0, 3}, frames[0]);  // twice
  CHECK_FALSE(taker.take());
  auto beyond = frames[1];
  beyond.resize(beyond.size() + 1);
  taker.handle({0, 3}, beyond);
  CHECK_FALSE(taker.take());
  taker.handle({0, 3}, frames[1]);
  CHECK(taker.take() == state);
}

#include "runtime/replicas/recall.hpp"

#include <array>
#include <map>
#include <memory>

#include "doctest/doctest.h"

using namespace resprout::runtime;

namespace {

using Answer = Recall::Answer;
using Of = Stream::Of;

// Two ranks in each plane; what one says to another is there at once.
class Planes final {
 public:
  explicit Planes(std::int32_t planes, std::size_t kept_bytes = 1 << 20) {
    for (std::int32_t plane = 0; plane < planes; ++plane)
      for (std::int32_t rank = 0; rank < 2; ++rank) {
        const Replica self{plane, rank};
        sides_[self].all = this;
        sides_[self].self = self;
        sides_[self].recall =
            std::make_unique<Recall>(Recall::Setup{self, planes, 2, kept_bytes}, sides_[self]);
      }
  }
  Recall& at(std::int32_t plane, std::int32_t rank) { return *sides_[{plane, rank}].recall; }
  void kill(std::int32_t plane, std::int32_t rank) {
    sides_[{plane, rank}].is_alive = false;
    for (auto& [self, side] : sides_)
      if (side.is_alive) side.recall->lose({plane, rank});
  }
  int frames() const { return frames_; }

 private:
  struct Side final : ChannelNetwork {
    void send(Replica to, Channel, std::span<const std::byte> frame) override {
      ++all->frames_;
      if (is_alive && all->sides_[to].is_alive) all->sides_[to].recall->handle(self, frame);
    }
    Planes* all = nullptr;
    Replica self;
    bool is_alive = true;
    std::unique_ptr<Recall> recall;
  };
  std::map<Replica, Side> sides_;
  int frames_ = 0;
};

// The n-th message from rank 1 to rank 0.
MessageName message(std::uint64_t number) { return {{7, 1, 0, 3, Of::messages}, number}; }
MessageName result_of_0(std::uint64_t number) { return {{7, 0, 0, 0, Of::results}, number}; }

std::vector<std::byte> bytes(int value) { return {static_cast<std::byte>(value)}; }

void keep(Recall& recall, const MessageName& name, int value) {
  recall.keep(name, bytes(value), {{0}});
}

// Nothing: there is no such answer. Else the byte that came.
std::optional<int> taken(Recall& recall, const MessageName& name) {
  std::vector<std::byte> found;
  if (recall.take(name, found) != Answer::here) return std::nullopt;
  return static_cast<int>(found.at(0));
}

}  // namespace

TEST_CASE("recall: nothing is sent while nobody asks") {
  Planes planes(2);
  for (std::uint64_t number = 1; number <= 100; ++number) keep(planes.at(1, 1), message(number), 5);
  CHECK(planes.frames() == 0);
}

TEST_CASE("recall: what a lost rank would have said a replica of it says") {
  Planes planes(2);
  keep(planes.at(1, 1), message(1), 5);
  planes.kill(0, 1);
  planes.at(0, 0).ask(message(1), 1);
  CHECK(taken(planes.at(0, 0), message(1)) == 5);
}

TEST_CASE("recall: who is asked too early answers when it has come so far") {
  Planes planes(2);
  planes.kill(0, 1);
  planes.at(0, 0).ask(message(1), 1);
  CHECK(taken(planes.at(0, 0), message(1)) == std::nullopt);
  keep(planes.at(1, 1), message(1), 6);
  CHECK(taken(planes.at(0, 0), message(1)) == 6);
}

TEST_CASE("recall: if who was asked dies, the next one is asked, until nobody is left") {
  Planes planes(3);
  planes.kill(0, 1);
  planes.at(0, 0).ask(message(1), 1);
  planes.kill(1, 1);
  keep(planes.at(2, 1), message(1), 8);
  CHECK(taken(planes.at(0, 0), message(1)) == 8);
  planes.at(0, 0).ask(message(2), 1);
  planes.kill(2, 1);
  std::vector<std::byte> nothing;
  CHECK(planes.at(0, 0).take(message(2), nothing) == Answer::hopeless);
}

namespace {

// Of what rank 1 has sent to rank 0, the first that is behind the first `taken` of each stream.
std::optional<Recall::Headline> heard(Recall& recall, std::int32_t tag, std::uint64_t taken = 0) {
  return recall.first_heard(1, 7, tag, [&](const Stream&) { return taken; });
}
MessageName with_tag(std::int32_t tag, std::uint64_t number) {
  return {{7, 1, 0, tag, Of::messages}, number};
}

}  // namespace

TEST_CASE("recall: who listens hears what there is, in the order in which it was sent") {
  Planes planes(2);
  keep(planes.at(1, 1), with_tag(5, 1), 1);
  keep(planes.at(1, 1), with_tag(3, 1), 1);
  planes.kill(0, 1);
  Recall& listener = planes.at(0, 0);
  CHECK(!heard(listener, ReceivedStreams::any));
  listener.listen_to(1);
  REQUIRE(heard(listener, ReceivedStreams::any));
  CHECK(heard(listener, ReceivedStreams::any)->name == with_tag(5, 1));
  CHECK(heard(listener, 3)->name == with_tag(3, 1));
  CHECK(heard(listener, 3)->bytes == 1);
  keep(planes.at(1, 1), with_tag(3, 2), 1);
  CHECK(heard(listener, 3, 1)->name == with_tag(3, 2));
  CHECK(!heard(listener, 5));  // it grows, so the first ones are taken
}

TEST_CASE("recall: what is heard again from another replica is heard once") {
  Planes planes(3);
  for (const int plane : {1, 2}) keep(planes.at(plane, 1), with_tag(3, 1), 1);
  keep(planes.at(1, 1), with_tag(4, 1), 1);
  planes.kill(0, 1);
  Recall& listener = planes.at(0, 0);
  listener.listen_to(1);
  planes.kill(1, 1);
  keep(planes.at(2, 1), with_tag(4, 1), 1);
  keep(planes.at(2, 1), with_tag(3, 2), 1);
  CHECK(heard(listener, ReceivedStreams::any)->name == with_tag(3, 1));
  CHECK(heard(listener, ReceivedStreams::any, 1)->name == with_tag(3, 2));
  CHECK(!heard(listener, ReceivedStreams::any, 2));
}

TEST_CASE("recall: others than who listens hear nothing") {
  Planes planes(2);
  planes.at(0, 0).listen_to(1);
  const int frames = planes.frames();
  planes.at(1, 1).keep({{7, 1, 1, 3, Of::messages}, 1}, bytes(1), {{1}});
  planes.at(1, 1).keep({{7, 1, 0, 3, Of::contributions}, 1}, bytes(1), {{0}});
  CHECK(planes.frames() == frames);
}

TEST_CASE("recall: of two that work out a result the one in the lower plane leads") {
  Planes planes(2);
  Recall& lower = planes.at(0, 0);
  Recall& higher = planes.at(1, 0);
  std::vector<std::byte> nothing;
  lower.lead(result_of_0(4));
  lower.ask(result_of_0(4), 0);
  CHECK(lower.take(result_of_0(4), nothing) == Answer::none);  // the other may have it natively
  higher.lead(result_of_0(4));
  CHECK(lower.take(result_of_0(4), nothing) == Answer::refused);
  higher.ask(result_of_0(4), 0);
  CHECK(higher.take(result_of_0(4), nothing) == Answer::none);
  keep(lower, result_of_0(4), 9);
  CHECK(taken(higher, result_of_0(4)) == 9);
}

TEST_CASE("recall: what all living readers have is forgotten, and no more than that") {
  Planes planes(2, 1000);
  Recall& sender = planes.at(0, 1);
  planes.at(0, 0).note_received(message(1).stream, 4);
  planes.at(1, 0).note_received(message(1).stream, 2);
  std::uint64_t number = 0;
  while (planes.frames() == 0) keep(sender, message(++number), 1);
  REQUIRE(number > 4);
  const std::size_t all = sender.kept_bytes();
  planes.kill(1, 1);
  planes.at(1, 0).ask(message(3), 1);
  CHECK(taken(planes.at(1, 0), message(3)) == 1);
  planes.kill(1, 0);
  CHECK(sender.kept_bytes() < all);
}

TEST_CASE("recall: all have arrived when the living replicas of the rank have said so") {
  Planes planes(3);
  planes.at(1, 0).arrive();
  CHECK(!planes.at(0, 0).have_all_arrived());
  planes.kill(2, 0);
  CHECK(planes.at(0, 0).have_all_arrived());
}

// See revoke.hpp.
#include "protocols/revoke/revoke.hpp"

#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

class OneProcess : public testing::OneProcess<Revoke> {
 public:
  using testing::OneProcess<Revoke>::OneProcess;
  void revokes() {
    tell([](Revoke& machine, const Context& context) { machine.revoke(context); });
  }
  void hears(int from) { hear(MessageKind::revocation, from, 0, 0, Slot::none); }
};

const RevokeConfig one{1};
const RevokeConfig two{2};
const RevokeConfig eight{8};

TEST_CASE("while nobody revokes nothing is said or sent, whoever dies") {
  OneProcess process(eight, 0, {3});
  process.suspect(1);
  CHECK(process.said() == "");
}

TEST_CASE("who revokes is revoked at once and tells each neighbor once") {
  OneProcess process(eight, 0);
  process.revokes();
  CHECK(process.said() ==
        "revoked:0 revocation>1/none revocation>2/none revocation>4/none revocation>7/none "
        "revocation>6/none");
  process.revokes();
  CHECK(process.said() == "");
}

TEST_CASE("who hears of it for the first time says from whom, and tells all its neighbors") {
  OneProcess process(eight, 3);
  process.hears(2);
  CHECK(process.said() ==
        "revoked:2 revocation>4/none revocation>5/none revocation>7/none revocation>2/none "
        "revocation>1/none");
}

TEST_CASE("further notices, and revoking what is revoked, change nothing") {
  OneProcess process(eight, 3);
  process.hears(2);
  process.said();
  process.hears(4);
  process.revokes();
  CHECK(process.said() == "");
}

TEST_CASE("the notice of somebody who is suspected by now is a notice") {
  OneProcess process(eight, 3, {2});
  process.hears(2);
  CHECK(process.said() ==
        "revoked:2 revocation>4/none revocation>5/none revocation>7/none revocation>1/none");
}

TEST_CASE("other messages are no notices") {
  OneProcess process(eight, 3);
  process.hear(MessageKind::tree, 2);
  CHECK(process.said() == "");
}

TEST_CASE("suspects are not told; behind them the ring is closed") {
  OneProcess process(eight, 0, {1, 2, 7});
  process.revokes();
  // 3 to the right; to the left 6 is a neighbor anyway.
  CHECK(process.said() == "revoked:0 revocation>4/none revocation>6/none revocation>3/none");
}

TEST_CASE("with the ring left open, suspects are only passed over") {
  const RevokeConfig open{8, false};
  OneProcess process(open, 0, {1, 2, 7});
  process.revokes();
  CHECK(process.said() == "revoked:0 revocation>4/none revocation>6/none");
  process.suspect(6);
  CHECK(process.said() == "");
}

TEST_CASE("who is suspected after it was told is passed over, on both sides of the ring") {
  OneProcess process(eight, 0);
  process.revokes();
  process.said();
  for (int rank : {2, 4, 6}) process.suspect(rank);
  CHECK(process.said() == "");
  process.suspect(1);
  CHECK(process.said() == "revocation>3/none");
  process.suspect(7);
  CHECK(process.said() == "revocation>5/none");
}

TEST_CASE("the two that are left tell each other, however far apart they are") {
  OneProcess process(eight, 0, {1, 2, 4, 5, 6, 7});
  process.revokes();
  CHECK(process.said() == "revoked:0 revocation>3/none");
  process.suspect(3);
  CHECK(process.said() == "");
}

TEST_CASE("alone, and of two") {
  OneProcess alone(one, 0);
  alone.revokes();
  CHECK(alone.said() == "revoked:0");
  OneProcess first(two, 0);
  first.revokes();
  CHECK(first.said() == "revoked:0 revocation>1/none");
  first.suspect(1);
  CHECK(first.said() == "");
}

// Whatever the order of suspicions, some before and some after.
TEST_CASE("nobody is told twice, and in the end the nearest not suspected on both sides are told") {
  Random random(1);
  for (int run = 0; run < 2000; ++run) {
    const RevokeConfig config{static_cast<std::int32_t>(1 + random.below(40))};
    const Rank self =
        rank_at(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(config.procs))));
    Revoke machine(config, self);
    std::vector<Rank> suspects;
    std::vector<int> told(static_cast<std::size_t>(config.procs));
    const auto context = [&] {
      return Context{{}, {suspects.data(), static_cast<std::uint32_t>(suspects.size())}, {}};
    };
    const auto send_some = [&](std::uint64_t count) {
      for (; count > 0; --count) {
        const auto message = machine.poll_send(context());
        if (!message) return;
        CHECK_FALSE(context().suspects.contains(message->to));
        ++told[static_cast<std::size_t>(index(message->to))];
      }
    };
    const auto is_suspect = [&](int rank) { return context().suspects.contains(rank_at(rank)); };
    const std::uint64_t starts = random.below(4);
    for (std::int32_t rank = 0; rank < config.procs; ++rank) {
      if (static_cast<std::uint64_t>(rank) == starts) machine.revoke(context());
      const bool is_doomed = rank != index(self) && random.chance(run % 5, 4);
      if (is_doomed) suspects.push_back(rank_at(rank));
      send_some(random.below(4));
    }
    machine.revoke(context());
    send_some(1000);
    for (const int count : told) CHECK(count <= 1);
    CHECK(told[static_cast<std::size_t>(index(self))] == 0);
    for (const int side : {1, config.procs - 1}) {
      int next = (index(self) + side) % config.procs;
      while (next != index(self) && is_suspect(next)) next = (next + side) % config.procs;
      if (next != index(self)) CHECK(told[static_cast<std::size_t>(next)] == 1);
    }
  }
}

}  // namespace
}  // namespace resprout::protocols

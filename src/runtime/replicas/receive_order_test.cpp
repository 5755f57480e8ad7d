#include "runtime/replicas/receive_order.hpp"

#include <algorithm>
#include <map>

#include "core/random.hpp"
#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::runtime;

namespace {

using Order = ReceiveOrder;
constexpr auto any = Order::any;

Order::Pattern from(std::int32_t source, std::int32_t tag, std::uint64_t communicator = 7) {
  return {communicator, source, tag};
}
// All that may be given to MPI now.
std::vector<Order::Ticket> give(Order& order, bool decides) {
  std::vector<Order::Ticket> given;
  while (const auto ticket = order.next_to_give(decides)) given.push_back(*ticket);
  return given;
}
using Tickets = std::vector<Order::Ticket>;

}  // namespace

TEST_CASE("receive order: who decides gives each receive to MPI when it is started") {
  Order order;
  const auto wild = order.start(from(any, 1));
  const auto named = order.start(from(2, 1));
  CHECK(give(order, true) == Tickets{wild, named});
  CHECK(give(order, true).empty());
}

TEST_CASE("receive order: who follows holds a wildcard back, and what might take its message") {
  Order order;
  const auto wild = order.start(from(any, 1));
  const auto same_tag = order.start(from(2, 1));
  const auto other_tag = order.start(from(2, 5));
  const auto other_comm = order.start(from(2, 1, 8));
  CHECK(give(order, false) == Tickets{other_tag, other_comm});
  CHECK_FALSE(order.is_clear(from(4, 1)));
  CHECK(order.is_clear(from(4, 2)));
  order.decide({1, 3, 1});
  CHECK(give(order, false) == Tickets{wild, same_tag});
  CHECK(order.pattern_of(wild).source == 3);
  CHECK(order.is_clear(from(4, 1)));
}

TEST_CASE("receive order: behind a wildcard a receive of any tag is decided, too") {
  Order order;
  CHECK_FALSE(order.needs_entry(from(2, any)));
  const auto wild = order.start(from(any, 1));
  CHECK(order.needs_entry(from(2, any)));
  CHECK_FALSE(order.needs_entry(from(2, any, 8)));
  const auto any_tag = order.start(from(2, any));
  CHECK(give(order, false).empty());
  order.decide({2, 2, 5});  // it has got another tag, and waits for nobody
  CHECK(give(order, false) == Tickets{any_tag});
  CHECK(order.may_complete(any_tag));
  order.end(any_tag);
  order.decide({1, 3, 1});
  CHECK(give(order, false) == Tickets{wild});
  CHECK(order.needs_entry(from(2, any)));
  order.end(wild);
  CHECK_FALSE(order.needs_entry(from(2, any)));
}

TEST_CASE("receive order: a decided wildcard still waits for an earlier one that is not") {
  Order order;
  const auto first = order.start(from(any, 1));
  const auto second = order.start(from(any, any));
  order.decide({2, 4, 1});
  CHECK(give(order, false).empty());
  order.decide({1, 4, 1});
  CHECK(give(order, false) == Tickets{first, second});
}

TEST_CASE("receive order: what was decided of wildcards to come is kept") {
  Order order;
  order.decide({2, 5, 1});
  order.decide({1, Order::nobody, 0});
  const auto first = order.start(from(any, 1));
  CHECK(order.is_cancelled(first));
  const auto second = order.start(from(any, 1));
  CHECK(give(order, false) == Tickets{second});
  CHECK(order.may_complete(first));
}

TEST_CASE("receive order: nothing is shown before it is decided what earlier ones have taken") {
  Order order;
  const auto wild = order.start(from(any, 1));
  const auto behind = order.start(from(2, 1));
  const auto beside = order.start(from(2, 3));
  give(order, true);
  CHECK_FALSE(order.may_complete(wild));
  CHECK_FALSE(order.may_complete(behind));
  CHECK(order.may_complete(beside));
  CHECK(order.match_of(behind, 2, 1) == std::nullopt);
  const auto match = order.match_of(wild, 6, 1);
  REQUIRE(match);
  CHECK(match->wildcard == 1);
  order.decide(*match);
  CHECK(order.may_complete(wild));
  CHECK(order.may_complete(behind));
  CHECK(order.match_of(wild, 6, 1) == std::nullopt);
}

TEST_CASE("receive order: a new leader gives what was held back, in order") {
  Order order;
  const auto first = order.start(from(any, 1));
  const auto second = order.start(from(2, 1));
  const auto third = order.start(from(any, 1));
  order.decide({2, 2, 1});
  CHECK(give(order, false).empty());
  CHECK(give(order, true) == Tickets{first, second, third});
}

TEST_CASE("receive order: what is cancelled holds nobody up any more") {
  Order order;
  order.start(from(any, 1));
  const auto behind = order.start(from(2, 1));
  order.decide({1, Order::nobody, 0});
  CHECK(give(order, false) == Tickets{behind});
  CHECK(order.may_complete(behind));
}

namespace {

struct Message {
  std::int32_t source;
  std::int32_t tag;
  int number;  // of its source
};

// MPI as far as it matters here: a queue of receives and a queue of messages.
class Matching {
 public:
  void give(Order::Ticket ticket, const Order::Pattern& pattern) {
    receives_.push_back({ticket, pattern});
    match();
  }
  void arrive(const Message& message) {
    messages_.push_back(message);
    match();
  }
  std::map<Order::Ticket, Message> taken;

 private:
  static bool fits(const Order::Pattern& pattern, const Message& message) {
    return (pattern.source == any || pattern.source == message.source) &&
           (pattern.tag == any || pattern.tag == message.tag);
  }
  // Only the newest of either queue can change anything, so any order of looking will do.
  void match() {
    for (auto receive = receives_.begin(); receive != receives_.end(); ++receive) {
      const auto message = std::find_if(messages_.begin(), messages_.end(),
                                        [&](const auto& it) { return fits(receive->second, it); });
      if (message == messages_.end()) continue;
      taken[receive->first] = *message;
      messages_.erase(message);
      receives_.erase(receive);
      return;
    }
  }

  std::vector<std::pair<Order::Ticket, Order::Pattern>> receives_;
  std::vector<Message> messages_;
};

// One replica: the same program, messages in an order of its own (but for those of one source).
struct Plane {
  Order order;
  Matching mpi;
  std::vector<std::vector<Message>> coming;  // by source
  std::vector<Order::Match> said;

  void give(bool decides) {
    while (const auto ticket = order.next_to_give(decides))
      mpi.give(*ticket, order.pattern_of(*ticket));
    if (!decides) return;
    for (const auto& [ticket, message] : mpi.taken) {
      const auto match = order.match_of(ticket, message.source, message.tag);
      if (!match) continue;
      order.decide(*match);
      said.push_back(*match);
    }
  }
  void arrive(Random& random) {
    auto& queue = coming[random.below(coming.size())];
    if (queue.empty()) return;
    mpi.arrive(queue.front());
    queue.erase(queue.begin());
  }
  bool is_coming() const {
    return std::any_of(coming.begin(), coming.end(), [](const auto& it) { return !it.empty(); });
  }
};

}  // namespace

TEST_CASE("receive order: replicas take the same messages whatever order these arrive in") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<std::vector<Message>> messages(1 + random.below(3));
    std::vector<Order::Pattern> program;
    for (std::size_t source = 0; source < messages.size(); ++source)
      for (std::uint64_t n = random.below(8); n > 0; --n)
        messages[source].push_back({static_cast<std::int32_t>(source),
                                    static_cast<std::int32_t>(random.below(2)),
                                    static_cast<int>(n)});
    for (std::uint64_t n = random.below(20); n > 0; --n)
      program.push_back(
          from(random.chance(1, 2) ? any : static_cast<std::int32_t>(random.below(messages.size())),
               random.chance(1, 4) ? any : static_cast<std::int32_t>(random.below(2))));
    Plane leader{.coming = messages};
    Plane follower{.coming = messages};
    std::size_t started_here = 0;
    std::size_t started_there = 0;
    std::size_t heard = 0;
    while (started_here + started_there < 2 * program.size() || leader.is_coming() ||
           follower.is_coming() || heard < leader.said.size()) {
      switch (random.below(5)) {
        case 0:
          if (started_here < program.size()) leader.order.start(program[started_here++]);
          break;
        case 1:
          if (started_there < program.size()) follower.order.start(program[started_there++]);
          break;
        case 2:
          leader.arrive(random);
          break;
        case 3:
          follower.arrive(random);
          break;
        default:
          if (heard < leader.said.size()) follower.order.decide(leader.said[heard++]);
      }
      leader.give(true);
      follower.give(false);
    }
    REQUIRE(leader.mpi.taken.size() == follower.mpi.taken.size());
    for (const auto& [ticket, message] : leader.mpi.taken) {
      REQUIRE(follower.mpi.taken.contains(ticket));
      CHECK(follower.mpi.taken[ticket].source == message.source);
      CHECK(follower.mpi.taken[ticket].number == message.number);
    }
  }
}

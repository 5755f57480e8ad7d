// The machine of one replica, told by hand what the others say. Replicas are called 0, 1 and 2.
#include "protocols/decision_log/decision_log.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

class OneReplica {
 public:
  OneReplica(std::int32_t degree, std::int32_t self, std::uint64_t window = 4)
      : self_(rank_at(self)), machine_({degree, window}, self_) {
    machine_.start(context());
  }

  bool may_decide() { return machine_.may_decide(context()); }
  void decide() { machine_.decide(context()); }
  void follow() { machine_.follow(context()); }
  void announce() { machine_.announce(context()); }
  void note_announcements(std::uint64_t count) { machine_.note_announcements(count); }
  bool is_known_to_all(std::uint64_t number) { return machine_.is_known_to_all(context(), number); }
  bool is_settled() { return machine_.is_settled(context()); }
  void finish() { machine_.finish(context()); }

  struct Heard {
    std::int32_t from;
    DecisionKind kind;
    std::uint64_t length = 0;
    std::uint64_t released = 0;
    std::uint64_t first = 1;
    std::uint64_t count = 0;
    std::uint32_t round = 0;
  };
  void hear(const Heard& heard) {
    machine_.handle_message(context(), {.from = rank_at(heard.from),
                                        .to = self_,
                                        .kind = heard.kind,
                                        .round = heard.round,
                                        .first = heard.first,
                                        .count = heard.count,
                                        .length = heard.length,
                                        .released = heard.released});
  }
  // The decisions up to `last` come from the leader.
  void learn(std::uint64_t last, std::int32_t from = 0) {
    const std::uint64_t first = machine_.length() + 1;
    hear({from, DecisionKind::decisions, last, 0, first, last - first + 1,
          static_cast<std::uint32_t>(from)});
  }
  void acknowledge(std::int32_t from, std::uint64_t length, std::uint64_t released = 0) {
    hear({from, DecisionKind::acknowledgment, length, released, 1, 0,
          static_cast<std::uint32_t>(index(machine_.leader()))});
  }
  void suspect(std::int32_t rank) {
    suspects_.push_back(rank_at(rank));
    std::sort(suspects_.begin(), suspects_.end());
    machine_.handle_suspicion(context(), rank_at(rank));
  }

  // What it has said to its driver and sends since the last time, e.g. "learn:1-2 ack>0/2": kind,
  // receiver, length of its log.
  std::string said() {
    static constexpr const char* events[] = {"learn", "release", "lead", "depose"};
    static constexpr const char* kinds[] = {"decisions", "inquiry", "answer", "ack", "farewell"};
    std::string log;
    const auto say = [&log](const std::string& word) { log += (log.empty() ? "" : " ") + word; };
    const auto range = [](std::uint64_t first, std::uint64_t last) {
      return std::to_string(first) + "-" + std::to_string(last);
    };
    while (const auto event = machine_.poll_event(context())) {
      const bool has_range =
          event->kind == DecisionEventKind::learn || event->kind == DecisionEventKind::release;
      say(events[static_cast<int>(event->kind)] +
          (has_range ? ":" + range(event->first, event->last) : ""));
    }
    while (const auto message = machine_.poll_send(context())) {
      const std::string to = ">" + std::to_string(index(message->to));
      const std::uint64_t last = message->first + message->count - 1;
      say(kinds[static_cast<int>(message->kind)] + to +
          (message->count > 0 ? ":" + range(message->first, last)
                              : "/" + std::to_string(message->length)));
    }
    return log;
  }
  const DecisionLog& machine() const { return machine_; }

 private:
  Context context() {
    return {{0}, {suspects_.data(), static_cast<std::uint32_t>(suspects_.size())}, {}};
  }

  Rank self_;
  std::vector<Rank> suspects_;
  DecisionLog machine_;
};

using enum DecisionKind;

// --- nobody dies
// ----------------------------------------------------------------------------------

TEST_CASE("the lowest replica leads: it decides at once, and tells the others") {
  OneReplica leader(3, 0);
  CHECK(leader.said() == "lead");
  leader.decide();
  leader.decide();
  CHECK(leader.said() == "decisions>1:1-2 decisions>2:1-2");
  OneReplica follower(3, 1);
  CHECK(follower.said() == "");
  CHECK_FALSE(follower.may_decide());
}

TEST_CASE("an announcement goes out at once, and is followed in its place as a decision is") {
  OneReplica leader(2, 0);
  CHECK(leader.said() == "lead");
  leader.announce();
  CHECK(leader.said() == "decisions>1:1-1");
  CHECK_FALSE(leader.may_decide());
  leader.follow();
  CHECK(leader.may_decide());
  CHECK_FALSE(leader.is_known_to_all(1));
  leader.acknowledge(1, 1);
  CHECK(leader.is_known_to_all(1));
}

TEST_CASE("a window that is full stops decisions, and no announcements") {
  OneReplica leader(2, 0, 2);
  leader.decide();
  leader.decide();
  CHECK_FALSE(leader.may_decide());
  leader.announce();
  CHECK(leader.said() == "lead decisions>1:1-3");
  CHECK(leader.machine().may_announce());
}

TEST_CASE("a new leader announces though its program has not followed all yet") {
  OneReplica replica(2, 1);
  replica.learn(2);
  CHECK_FALSE(replica.machine().may_announce());
  replica.suspect(0);
  CHECK_FALSE(replica.may_decide());
  replica.announce();
  CHECK(replica.machine().length() == 3);
  replica.follow();
  replica.follow();
  replica.follow();
  CHECK(replica.may_decide());
}

TEST_CASE("a decision is settled when every other replica has acknowledged it") {
  OneReplica leader(3, 0);
  CHECK(leader.is_settled());
  leader.decide();
  leader.acknowledge(1, 1);
  CHECK_FALSE(leader.is_settled());
  leader.acknowledge(2, 1);
  CHECK(leader.is_settled());
}

TEST_CASE("a follower acknowledges to all, and has settled what it followed when all others have") {
  OneReplica follower(3, 2);
  follower.learn(1);
  CHECK(follower.said() == "learn:1-1 ack>0/1 ack>1/1");
  CHECK(follower.is_settled());  // it has followed nothing
  follower.follow();
  CHECK_FALSE(follower.is_settled());
  follower.acknowledge(1, 1);
  CHECK(follower.is_settled());
}

TEST_CASE("of two replicas a follower has settled whatever it knows") {
  OneReplica follower(2, 1);
  follower.learn(2);
  follower.follow();
  CHECK(follower.is_settled());
  CHECK(follower.said() == "learn:1-2 release:1-1 ack>0/2");
}

TEST_CASE("what the program has followed and everybody has is released") {
  OneReplica follower(3, 1);
  follower.learn(3);
  follower.acknowledge(2, 2);
  CHECK(follower.said() == "learn:1-3 ack>0/3 ack>2/3");
  follower.follow();
  follower.follow();
  follower.follow();
  CHECK(follower.said() == "release:1-2 ack>0/3");
  follower.acknowledge(2, 3);
  CHECK(follower.said() == "release:3-3");
}

TEST_CASE("a leader waits for who is a window behind, until that one has room") {
  OneReplica leader(2, 0, 2);
  leader.decide();
  leader.decide();
  CHECK_FALSE(leader.may_decide());
  leader.acknowledge(1, 2);
  CHECK_FALSE(leader.may_decide());
  leader.acknowledge(1, 2, 1);
  CHECK(leader.may_decide());
}

TEST_CASE("a follower tells the leader, and nobody else, when half of its window is free") {
  OneReplica follower(3, 1, 4);
  follower.learn(4);
  follower.acknowledge(2, 4);
  CHECK(follower.said() == "learn:1-4 ack>0/4 ack>2/4");
  follower.follow();
  CHECK(follower.said() == "release:1-1");
  follower.follow();
  CHECK(follower.said() == "release:2-2 ack>0/4");
}

TEST_CASE("who has ended says so, is waited for no more, and is sent nothing") {
  OneReplica leader(2, 0, 1);
  leader.decide();
  leader.acknowledge(1, 1, 1);
  leader.said();
  leader.hear({1, farewell, 1, 1});
  CHECK(leader.may_decide());
  leader.finish();
  CHECK(leader.said() == "");
  OneReplica other(2, 0);
  other.finish();
  CHECK(other.said() == "lead farewell>1/0");
}

// --- the leader dies
// ------------------------------------------------------------------------------

TEST_CASE("of two replicas the one that is left decides alone, behind what it knows") {
  OneReplica follower(2, 1);
  follower.learn(1);
  follower.suspect(0);
  CHECK(follower.said() == "learn:1-1 lead");
  CHECK_FALSE(follower.may_decide());  // it has not followed what it knows
  follower.follow();
  CHECK(follower.may_decide());
  follower.decide();
  CHECK(follower.is_settled());
}

TEST_CASE("of three, the next leader asks what the other one knows before it decides") {
  OneReplica next(3, 1);
  next.learn(1);
  next.said();
  next.suspect(0);
  CHECK(next.said() == "inquiry>2/1");
  next.follow();
  CHECK_FALSE(next.may_decide());
  next.hear({2, answer, 3, 0, 2, 2, 1});
  CHECK(next.said() == "learn:2-3 release:1-1 lead ack>2/3");
  next.follow();
  next.follow();
  CHECK(next.may_decide());
  CHECK(next.is_settled());
}

TEST_CASE("the next leader sends the other one what that one has missed") {
  OneReplica next(3, 1);
  next.learn(3);
  next.said();
  next.suspect(0);
  CHECK(next.said() == "inquiry>2/3");
  next.hear({2, answer, 1, 0, 4, 0, 1});
  CHECK(next.said() == "lead decisions>2:2-3");
}

TEST_CASE("who is asked gives what the next leader lacks, and takes nothing from the old one") {
  OneReplica other(3, 2);
  other.learn(2);
  other.said();
  other.hear({1, inquiry, 1, 0, 1, 0, 1});
  CHECK(other.said() == "ack>0/2 answer>1:2-2");  // who still leads is told that it does not
  other.hear({0, decisions, 3, 0, 3, 1, 0});
  CHECK(other.said() == "");
  CHECK(other.machine().length() == 2);
  other.hear({1, decisions, 3, 0, 3, 1, 1});
  CHECK(other.said() == "learn:3-3 ack>0/3 ack>1/3");
}

TEST_CASE("the answer of who dies is waited for no more") {
  OneReplica next(3, 1);
  next.suspect(0);
  CHECK(next.said() == "inquiry>2/0");
  next.suspect(2);
  CHECK(next.said() == "lead");
  next.decide();
  CHECK(next.is_settled());
}

TEST_CASE("nor is that of who has ended, whatever leader it has followed") {
  OneReplica next(3, 1);
  next.learn(1);
  next.follow();
  next.said();
  next.suspect(0);
  CHECK(next.said() == "inquiry>2/1");
  next.hear({2, farewell, 1});
  CHECK(next.said() == "release:1-1 lead");
}

TEST_CASE("the last of three leads without asking anybody") {
  OneReplica last(3, 2);
  last.suspect(1);
  CHECK(last.said() == "");
  last.suspect(0);
  CHECK(last.said() == "lead");
}

TEST_CASE("a leader that others have given up hears it, and settles nothing any more") {
  OneReplica leader(3, 0);
  leader.said();
  leader.suspect(1);
  leader.decide();
  leader.said();
  leader.hear({2, acknowledgment, 1, 0, 1, 0, 1});  // of what replica 1 has decided
  CHECK(leader.said() == "depose");
  CHECK_FALSE(leader.is_settled());
  CHECK_FALSE(leader.may_decide());
}

TEST_CASE("calls that mean nothing change nothing") {
  OneReplica follower(3, 2);
  follower.learn(2);
  follower.said();
  follower.hear({0, decisions, 2, 0, 1, 2, 0});  // once more
  follower.hear({1, answer, 5, 0, 3, 3, 0});     // to nothing asked
  CHECK(follower.machine().length() == 2);
  CHECK(follower.said() == "");
  follower.suspect(0);
  follower.hear({0, decisions, 3, 0, 3, 1, 0});
  CHECK(follower.said() == "");
}

}  // namespace
}  // namespace resprout::protocols

// The machine of one process, told by hand what the others say. Senders are called s0, s1, s2 and
// receivers d0, d1, d2; a copy is right if its digest is 7.
#include "protocols/digest_vote/digest_vote.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

constexpr std::uint64_t good = 7;
constexpr std::uint64_t bad = 8;

class OneReplica {
 public:
  OneReplica(VoteMethod method, int degree, Rank self, const std::vector<int>& suspects = {})
      : config_{method, degree}, self_(self), machine_(config_, self, good) {
    for (int rank : suspects) suspects_.push_back(rank_at(rank));
    machine_.start(context());
    drain();
  }
  static OneReplica sender(VoteMethod method, int degree, int k) {
    return {method, degree, rank_at(k)};
  }
  static OneReplica receiver(VoteMethod method, int degree, int j,
                             const std::vector<int>& suspects = {}) {
    return {method, degree, rank_at(degree + j), suspects};
  }

  OneReplica(const OneReplica&) = delete;
  OneReplica& operator=(const OneReplica&) = delete;

  // The share of sender k: its copy, or its digest where the method says so.
  void share(int k, std::uint64_t digest) {
    const bool is_data = config_.share(k, config_.replica(self_)) == Share::data;
    hear(rank_at(k), is_data ? VoteKind::data : VoteKind::digest, k, digest);
  }
  void copy(Rank from, int origin, std::uint64_t digest) {
    hear(from, VoteKind::data, origin, digest);
  }
  void opinion(int sibling, int origin, std::uint64_t digest) {
    hear(config_.receiver(sibling), VoteKind::opinions, origin, digest);
  }
  void hear(Rank from, VoteKind kind, int origin = -1, std::uint64_t digest = 0) {
    VoteMessage message{.from = from, .to = self_, .kind = kind};
    if (origin >= 0) {
      message.origins = 1U << origin;
      message.digests[static_cast<std::size_t>(origin)] = digest;
    }
    last_ = machine_.handle_message(context(), message);
    drain();
  }
  void asks(int sibling, VoteKind kind, std::uint32_t origins = 0) {
    VoteMessage message{.from = config_.receiver(sibling), .to = self_, .kind = kind};
    message.origins = origins;
    machine_.handle_message(context(), message);
    drain();
  }
  void suspect(Rank rank) {
    suspects_.push_back(rank);
    std::sort(suspects_.begin(), suspects_.end());
    machine_.handle_suspicion(context(), rank);
    drain();
  }
  Rank s(int k) const { return config_.sender(k); }
  Rank d(int j) const { return config_.receiver(j); }

  bool kept() const { return last_ == Disposition::keep; }
  // What has been said and sent since the last time, e.g. "deliver:s0 inquiry>d1".
  std::string said() {
    while (const auto message = machine_.poll_send(context())) {
      static constexpr const char* kinds[] = {"data",     "digest", "inquiry",
                                              "opinions", "pull",   "nothing"};
      say(kinds[static_cast<int>(message->kind)], ">", message->to);
      for (int i = 0; i < config_.degree; ++i)
        if ((message->origins >> i & 1) != 0) log_ += "/s" + std::to_string(i);
    }
    return std::exchange(log_, "");
  }

 private:
  Context context() {
    return {{0}, {suspects_.data(), static_cast<std::uint32_t>(suspects_.size())}, {}};
  }
  void drain() {
    static constexpr const char* names[] = {"deliver", "confirm", "mismatch",  "outvote", "taint",
                                            "repair",  "finish",  "undecided", "lost"};
    while (const auto event = machine_.poll_event(context())) {
      say(names[static_cast<int>(event->kind)], ":", event->origin);
      if (event->kind == VoteEventKind::finish) log_ += "=" + std::to_string(event->agreeing);
    }
  }
  void say(const char* word, const char* mark, Rank rank) {
    log_ += (log_.empty() ? "" : " ") + std::string(word);
    if (rank == no_rank) return;
    log_ += mark + std::string(config_.is_sender(rank) ? "s" : "d");
    log_ += std::to_string(config_.replica(rank));
  }

  DigestVoteConfig config_;
  Rank self_;
  std::vector<Rank> suspects_;
  DigestVote machine_;
  Disposition last_ = Disposition::done;
  std::string log_;
};

using enum VoteMethod;

// --- who sends what to whom (sections 2.4, 4.1, 4.2)
// ----------------------------------------------

TEST_CASE("all-to-all and async: every sender sends its copy to every receiver, its own first") {
  for (const VoteMethod method : {all_to_all, async}) {
    CHECK(OneReplica::sender(method, 2, 1).said() == "data>d1/s1 data>d0/s1");
    CHECK(OneReplica::sender(method, 3, 1).said() == "data>d1/s1 data>d2/s1 data>d0/s1");
  }
}

TEST_CASE("with hashes: the copy to the receiver of the same number, the digest to the next one") {
  for (const VoteMethod method : {msg_plus_hash, async_hash}) {
    CHECK(OneReplica::sender(method, 2, 1).said() == "data>d1/s1 digest>d0/s1");
    CHECK(OneReplica::sender(method, 3, 0).said() == "data>d0/s0 digest>d1/s0");
    CHECK(OneReplica::sender(method, 3, 2).said() == "data>d2/s2 digest>d0/s2");
  }
}

TEST_CASE("a sender gives its copy again to who asks, and nothing to who is suspected") {
  OneReplica sender(async_hash, 3, rank_at(0), {3});
  CHECK(sender.said() == "digest>d1/s0");
  sender.asks(2, VoteKind::pull, 7);
  sender.asks(0, VoteKind::pull, 7);
  sender.asks(1, VoteKind::inquiry);
  CHECK(sender.said() == "opinions>d1/s0 data>d2/s0");
}

// --- the paper's unit tests (section 5.3)
// ---------------------------------------------------------

TEST_CASE("async: all copies are identical") {
  OneReplica d0(async, 3, rank_at(3));
  d0.share(1, good);
  CHECK(d0.said() == "deliver:s1");
  d0.share(0, good);
  CHECK(d0.said() == "confirm");
  d0.share(2, good);
  CHECK(d0.said() == "finish:s1=3");
}

TEST_CASE("async: the first two copies are identical, which confirms them, but a third differs") {
  OneReplica d0(async, 3, rank_at(3));
  d0.share(0, good);
  d0.share(1, good);
  CHECK(d0.said() == "deliver:s0 confirm");
  d0.share(2, bad);
  CHECK(d0.said() == "mismatch outvote:s2 finish:s0=2");
}

TEST_CASE("async: the first copy is corrupted, the second and third match: correction") {
  OneReplica d0(async, 3, rank_at(3));
  d0.share(0, bad);
  d0.share(1, good);
  CHECK(d0.said() == "deliver:s0 mismatch");
  d0.share(2, good);
  CHECK(d0.said() == "outvote:s0 taint:s0 repair:s1 confirm finish:s1=2");
}

// --- eager methods
// ---------------------------------------------------------------------------------

TEST_CASE("all-to-all: nothing is delivered before all copies are there") {
  OneReplica d1(all_to_all, 3, rank_at(4));
  d1.share(2, good);
  d1.share(0, good);
  CHECK(d1.said() == "");
  d1.share(1, good);
  CHECK(d1.said() == "deliver:s1 confirm finish:s1=3");
}

TEST_CASE("all-to-all, degree 3: the majority's copy is delivered, whose-ever is corrupted") {
  const char* const expected[] = {"mismatch deliver:s1 outvote:s0 confirm finish:s1=2",
                                  "mismatch deliver:s0 outvote:s1 confirm finish:s0=2",
                                  "deliver:s0 mismatch outvote:s2 confirm finish:s0=2"};
  for (int wrong = 0; wrong < 3; ++wrong) {
    OneReplica d0(all_to_all, 3, rank_at(3));
    for (int k = 0; k < 3; ++k) d0.share(k, k == wrong ? bad : good);
    CHECK(d0.said() == expected[wrong]);
  }
}

TEST_CASE("degree 2: a corrupted copy is detected, and nothing is delivered by an eager method") {
  for (const VoteMethod method : {all_to_all, msg_plus_hash}) {
    OneReplica d0(method, 2, rank_at(2));
    d0.share(0, good);
    d0.share(1, bad);
    CHECK(d0.said() == "mismatch undecided");
  }
}

TEST_CASE("degree 2: a lazy method detects it after it has delivered") {
  for (const VoteMethod method : {async, async_hash}) {
    OneReplica d0(method, 2, rank_at(2));
    d0.share(0, bad);
    CHECK(d0.said() == "deliver:s0");
    d0.share(1, good);
    CHECK(d0.said() == "mismatch undecided");
  }
}

TEST_CASE("message plus hash: delivered when the digest is there and agrees") {
  OneReplica d0(msg_plus_hash, 3, rank_at(3));
  d0.share(0, good);
  CHECK(d0.said() == "");
  d0.share(2, good);
  CHECK(d0.said() == "deliver:s0 confirm finish:s0=2");
}

TEST_CASE("asynchronous hash: delivered at once, verified when the digest comes") {
  OneReplica d0(async_hash, 2, rank_at(2));
  d0.share(0, good);
  CHECK(d0.kept());
  CHECK(d0.said() == "deliver:s0");
  d0.share(1, good);
  CHECK_FALSE(d0.kept());
  CHECK(d0.said() == "confirm finish:s0=2");
}

// --- correction with hashes (section 4.2)
// ---------------------------------------------------------

TEST_CASE("asynchronous hash, a corrupted sender: the lower receiver is tainted, and repaired") {
  OneReplica d0(async_hash, 3, rank_at(3));
  d0.share(0, bad);
  d0.share(2, good);
  CHECK(d0.said() == "deliver:s0 mismatch inquiry>d1");
  d0.opinion(1, 1, good);
  CHECK(d0.said() == "outvote:s0 taint:s0 pull>s1/s1/s2");
  d0.copy(d0.s(1), 1, good);
  CHECK(d0.said() == "repair:s1 confirm finish:s1=2");
}

TEST_CASE("asynchronous hash, a corrupted sender: the higher receiver keeps what it has") {
  OneReplica d1(async_hash, 3, rank_at(4));
  d1.share(1, good);
  d1.share(0, bad);
  CHECK(d1.said() == "deliver:s1 mismatch inquiry>d2");
  d1.opinion(2, 2, good);
  CHECK(d1.said() == "outvote:s0 confirm finish:s1=2");
}

TEST_CASE("a lazy method does not deliver what a digest that came before contradicts") {
  OneReplica d0(async_hash, 3, rank_at(3));
  d0.share(2, good);
  d0.share(0, bad);
  CHECK(d0.said() == "mismatch inquiry>d1");
  d0.opinion(1, 1, good);
  CHECK(d0.said() == "outvote:s0 pull>s1/s1/s2");
  d0.copy(d0.s(1), 1, good);
  CHECK(d0.said() == "deliver:s1 confirm finish:s1=2");
}

TEST_CASE("message plus hash, a corrupted sender: the lower receiver delivers another's copy") {
  OneReplica d0(msg_plus_hash, 3, rank_at(3));
  d0.share(0, bad);
  d0.share(2, good);
  CHECK(d0.said() == "mismatch inquiry>d1");
  d0.opinion(1, 1, good);
  CHECK(d0.said() == "outvote:s0 pull>s1/s1/s2");
  d0.copy(d0.s(1), 1, good);
  CHECK(d0.said() == "deliver:s1 confirm finish:s1=2");
}

TEST_CASE("a copy for the repair that is not what it should be is not taken") {
  OneReplica d0(async_hash, 3, rank_at(3));
  d0.share(0, bad);
  d0.share(2, good);
  d0.opinion(1, 1, good);
  d0.said();
  d0.copy(d0.s(1), 1, bad);
  CHECK_FALSE(d0.kept());
  CHECK(d0.said() == "pull>s2/s1/s2");
  d0.copy(d0.s(2), 2, good);
  CHECK(d0.said() == "repair:s2 confirm finish:s2=2");
}

TEST_CASE("who has no sibling left asks the senders that owe it nothing") {
  OneReplica d0(async_hash, 3, rank_at(3), {2, 4, 5});
  d0.share(0, bad);
  CHECK(d0.said() == "deliver:s0 inquiry>s1");
  d0.hear(d0.s(1), VoteKind::opinions, 1, good);
  CHECK(d0.said() == "mismatch undecided");
}

TEST_CASE(
    "what is said of one copy a second time counts for nothing, but a contradiction is seen") {
  OneReplica d0(async_hash, 3, rank_at(3), {2});
  d0.share(0, bad);
  CHECK(d0.said() == "deliver:s0 inquiry>d1");
  d0.opinion(1, 0, bad);
  CHECK(d0.said() == "inquiry>d2");
  d0.opinion(2, 0, good);
  CHECK(d0.said() == "mismatch inquiry>s1");
  d0.hear(d0.s(1), VoteKind::opinions, 1, good);
  CHECK(d0.said() == "undecided");
}

// --- crashes
// --------------------------------------------------------------------------------------

TEST_CASE("async: the copy of a dead sender is waited for no more") {
  OneReplica d0(async, 3, rank_at(3));
  d0.share(0, good);
  d0.share(2, good);
  CHECK(d0.said() == "deliver:s0 confirm");
  d0.suspect(d0.s(1));
  CHECK(d0.said() == "finish:s0=2");
}

TEST_CASE(
    "two of three senders dead: who has one copy asks its siblings, and says it is unverified") {
  OneReplica d0(all_to_all, 3, rank_at(3));
  d0.share(0, good);
  d0.suspect(d0.s(1));
  CHECK(d0.said() == "");
  d0.suspect(d0.s(2));
  CHECK(d0.said() == "inquiry>d1");
  d0.suspect(d0.d(1));
  CHECK(d0.said() == "inquiry>d2");
  d0.hear(d0.d(2), VoteKind::opinions);
  CHECK(d0.said() == "deliver:s0 finish:s0=1");
}

TEST_CASE("what a sibling has heard of the dead counts") {
  OneReplica d0(all_to_all, 3, rank_at(3), {1, 2});
  d0.share(0, bad);
  CHECK(d0.said() == "inquiry>d1");
  d0.opinion(1, 1, good);
  CHECK(d0.said() == "mismatch inquiry>d2");
  d0.opinion(2, 2, good);
  CHECK(d0.said() == "outvote:s0 pull>d1/s1/s2");
  d0.copy(d0.d(1), 1, good);
  CHECK(d0.said() == "deliver:s1 confirm finish:s1=2");
}

TEST_CASE(
    "with hashes, who loses its own sender gets the copy of another, one not heard of first") {
  OneReplica d0(async_hash, 3, rank_at(3));
  d0.share(2, good);
  d0.suspect(d0.s(0));
  CHECK(d0.said() == "pull>s1/s0/s1/s2");
  d0.copy(d0.s(1), 1, good);
  CHECK(d0.said() == "deliver:s1 confirm finish:s1=2");
}

TEST_CASE("degree 2 with hashes: a copy that its own digest contradicts is never delivered") {
  OneReplica d0(async_hash, 2, rank_at(2), {0});
  CHECK(d0.said() == "pull>s1/s0/s1");
  d0.share(1, good);
  d0.copy(d0.s(1), 1, bad);
  CHECK_FALSE(d0.kept());
  CHECK(d0.said() == "mismatch pull>d1/s0/s1");
  d0.hear(d0.d(1), VoteKind::nothing);
  CHECK(d0.said() == "inquiry>d1");
  d0.hear(d0.d(1), VoteKind::opinions);
  CHECK(d0.said() == "undecided");
}

TEST_CASE("all senders dead and nobody has a copy: lost") {
  OneReplica d0(async, 2, rank_at(2), {0, 1});
  CHECK(d0.said() == "pull>d1/s0/s1");
  d0.hear(d0.d(1), VoteKind::nothing);
  CHECK(d0.said() == "inquiry>d1");
  d0.hear(d0.d(1), VoteKind::opinions);
  CHECK(d0.said() == "lost");
}

TEST_CASE("who is suspected is heard no more") {
  OneReplica d0(async, 2, rank_at(2), {0});
  d0.share(0, bad);
  CHECK(d0.said() == "");
  d0.share(1, good);
  CHECK(d0.said() == "deliver:s1 inquiry>d1");
}

// --- answers
// --------------------------------------------------------------------------------------

TEST_CASE("a sibling is answered when the shares are in, also after the end") {
  OneReplica d1(async_hash, 3, rank_at(4));
  d1.asks(0, VoteKind::inquiry);
  d1.share(1, good);
  CHECK(d1.said() == "deliver:s1");
  d1.share(0, good);
  CHECK(d1.said() == "confirm finish:s1=2 opinions>d0/s0/s1");
  d1.asks(0, VoteKind::pull, 6);
  CHECK(d1.said() == "data>d0/s1");
  d1.asks(2, VoteKind::pull, 1);
  CHECK(d1.said() == "nothing>d2");
}

TEST_CASE("calls that mean nothing change nothing") {
  OneReplica d0(async, 2, rank_at(2));
  d0.hear(d0.s(0), VoteKind::data);
  d0.hear(d0.d(1), VoteKind::nothing);
  d0.opinion(1, 0, bad);
  CHECK(d0.said() == "");
  d0.share(0, good);
  d0.share(0, good);
  d0.share(1, good);
  CHECK(d0.said() == "deliver:s0 confirm finish:s0=2");
  d0.share(1, bad);
  CHECK(d0.said() == "");
}

}  // namespace
}  // namespace resprout::protocols

// Of the two ends of a silent link one goes, and always the same one.
#include "protocols/link_watch/cut_rules.hpp"

#include <set>
#include <vector>

#include "doctest/doctest.h"

using resprout::protocols::CutRules;
using resprout::protocols::SilentLink;

namespace {

struct Job {
  std::vector<int> hosts;  // of each rank
  std::vector<SilentLink> links;
  std::set<int> dead = {};

  template <typename Ask>
  auto ask(const Ask& question) const {
    const auto host_of = [this](int rank) { return hosts[static_cast<std::size_t>(rank)]; };
    const auto is_alive = [this](int rank) { return !dead.contains(rank); };
    return question(CutRules(static_cast<int>(hosts.size()), links, host_of, is_alive));
  }
  int loser(const SilentLink& link) const {
    return ask([&](const auto& rules) { return rules.loser_of(link); });
  }
  int judge(const SilentLink& link) const {
    return ask([&](const auto& rules) { return rules.judge_of(link); });
  }
  bool is_open(const SilentLink& link) const {
    return ask([&](const auto& rules) { return rules.is_open(link); });
  }
};

}  // namespace

TEST_CASE("cuts: of equal hosts that with the higher lowest rank goes") {
  const Job job{{0, 1, 2}, {{0, 2}}};
  CHECK(job.loser({0, 2}) == 2);
  const Job crossed{{0, 1, 1, 0}, {{2, 3}}};  // rank 3 is on host 0
  CHECK(crossed.loser({2, 3}) == 2);
}

TEST_CASE("cuts: the host with fewer living ranks goes before that with the higher rank") {
  Job job{{0, 1, 1}, {{0, 1}}};
  CHECK(job.loser({0, 1}) == 0);
  job.dead = {2};
  CHECK(job.loser({0, 1}) == 1);
}

TEST_CASE("cuts: the host with more silent hosts goes before that with fewer ranks") {
  // Host 1, of two ranks, does not hear 0 and 3, of one each.
  const Job job{{0, 1, 1, 3}, {{0, 1}, {0, 2}, {1, 3}}};
  CHECK(job.loser({0, 1}) == 1);
  CHECK(job.loser({0, 2}) == 2);
  CHECK(job.loser({1, 3}) == 1);
  // Many links between the same two hosts are one.
  const Job pair{{0, 1, 1, 3}, {{0, 1}, {0, 2}}};
  CHECK(pair.loser({0, 1}) == 0);
}

TEST_CASE("cuts: the lowest living rank that is no end decides, and else the lower end") {
  Job job{{0, 1, 2, 3}, {{0, 2}}};
  CHECK(job.judge({0, 2}) == 1);
  CHECK(job.judge({1, 2}) == 0);
  job.dead = {1};
  CHECK(job.judge({0, 2}) == 3);
  job.dead = {1, 3};
  CHECK(job.judge({0, 2}) == 0);
}

TEST_CASE("cuts: nothing is to be decided of a link one of whose ends is lost") {
  Job job{{0, 1, 2}, {{0, 2}}};
  CHECK(job.is_open({0, 2}));
  job.dead = {0};
  CHECK_FALSE(job.is_open({0, 2}));
  job.dead = {2};
  CHECK_FALSE(job.is_open({0, 2}));
}

#include "launcher/hosts.hpp"

#include "doctest/doctest.h"

namespace resprout::launcher {
namespace {

// Two ranks on each of a, b, c; a second job has two on b.
std::optional<std::string> host_of(Process process) {
  const char* names[] = {"a", "b", "c"};
  const auto [job, rank] = process;
  if (job == 1 && rank < 6) return names[rank / 2];
  if (job == 2 && rank < 2) return "b";
  return std::nullopt;
}

const int first = 1;
const int second = 2;
using Gone = std::vector<Process>;

TEST_CASE("hosts: none can be lost before all processes have come") {
  Hosts hosts(host_of);
  CHECK_FALSE(hosts.can_lose_one());
  hosts.note_launch(&first);
  CHECK_FALSE(hosts.can_lose_one());
  hosts.note_arrival_of_all(&first);
  CHECK(hosts.can_lose_one());
}

TEST_CASE("hosts: none can be lost while another job begins") {
  Hosts hosts(host_of);
  hosts.note_launch(&first);
  hosts.note_arrival_of_all(&first);
  hosts.note_launch(&second);
  CHECK_FALSE(hosts.can_lose_one());
  hosts.note_arrival_of_all(&second);
  CHECK(hosts.can_lose_one());
}

TEST_CASE("hosts: the processes of all jobs on a lost one end with it") {
  Hosts hosts(host_of);
  hosts.note_launch(&first);
  hosts.note_launch(&second);
  CHECK_FALSE(hosts.is_lost("b"));
  CHECK(hosts.lose("b") == Gone{{1, 2}, {1, 3}, {2, 0}, {2, 1}});
  CHECK(hosts.is_lost("b"));
  CHECK_FALSE(hosts.is_lost("c"));
}

TEST_CASE("hosts: whoever has ended before does not end again") {
  Hosts hosts(host_of);
  hosts.note_launch(&first);
  hosts.note_end({1, 2});
  CHECK(hosts.lose("b") == Gone{{1, 3}});
  CHECK(hosts.lose("b").empty());
}

}  // namespace
}  // namespace resprout::launcher

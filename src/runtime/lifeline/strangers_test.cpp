// What the lifeline's port has to bear: noise, other versions, thousands of callers.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "runtime/lifeline/lifeline_test.hpp"
#include "runtime/net/socket.hpp"
#include "runtime/testing/garbage.hpp"

namespace resprout::runtime {
namespace {

TEST_CASE("losses are found while strangers throw garbage at the port, and these are counted") {
  Scene scene({.procs = 4, .hosts = 2});
  testing::GarbageThrower thrower(scene.board().addresses[1].lifeline_port, 5);
  for (int i = 0; i < 200; ++i) thrower.throw_one();
  scene.ranks().signal(0, SIGKILL);
  while (scene.board().heard[1][0].losses == 0) thrower.throw_one();
  CHECK(scene.all_heard(0, {0}));
  scene.finish({0}, LossKind::exited);
  CHECK(scene.board().rejected[1] > 0);
}

// Waits until the other end hangs up, and returns what it has said.
std::string hear_out(const Fd& socket) {
  std::string said;
  char bytes[64];
  pollfd entry{socket.get(), POLLIN, 0};
  while (poll(&entry, 1, 45'000) == 1) {
    const ssize_t n = recv(socket.get(), bytes, sizeof bytes, 0);
    if (n <= 0) return said;
    said.append(bytes, static_cast<std::size_t>(n));
  }
  return said + "?";
}

TEST_CASE("who speaks another version is dropped with one line that names both, and counted") {
  const Captured captured;
  Scene scene({.procs = 4, .hosts = 2});
  for (int i = 0; i < 3; ++i) {
    const Fd stranger = connect_to("127.0.0.1", scene.board().addresses[1].lifeline_port);
    pollfd entry{stranger.get(), POLLOUT, 0};
    REQUIRE(poll(&entry, 1, 45'000) == 1);
    REQUIRE(send(stranger.get(), "RESPRT42 and more", 17, MSG_NOSIGNAL) == 17);
    CHECK(hear_out(stranger) == "RESPRT01");
  }
  scene.ranks().signal(0, SIGKILL);
  CHECK(scene.all_heard(0, {0}));
  scene.finish({0}, LossKind::exited);
  CHECK(scene.board().rejected[1] == 3);
  CHECK(captured.text() ==
        "resprout: rank 1: a process at 127.0.0.1 speaks version 42 of Resprout's protocol and "
        "this one version 1; its connections are dropped\n");
}

TEST_CASE("ten thousand connections from nobody are bounded and counted, and losses are found") {
  Scene scene({.procs = 4, .hosts = 2});
  std::vector<Fd> held;
  for (int i = 0; i < 10'000; ++i) {
    Fd stranger = connect_to("127.0.0.1", scene.board().addresses[1].lifeline_port);
    pollfd entry{stranger.get(), POLLOUT, 0};
    REQUIRE(poll(&entry, 1, 45'000) == 1);
    held.push_back(std::move(stranger));
    if (held.size() == 500) held.clear();
  }
  CHECK(Scene::eventually([&] { return scene.board().rejected[1] >= 9'000; }));
  scene.ranks().signal(0, SIGKILL);
  CHECK(scene.all_heard(0, {0}));
  scene.finish({0}, LossKind::exited);
}

}  // namespace
}  // namespace resprout::runtime

#include "runtime/death_marks/process.hpp"

#include <poll.h>
#include <sys/prctl.h>

#include "doctest/doctest.h"
#include "runtime/lifeline/status_page.hpp"
#include "runtime/testing/processes.hpp"

namespace resprout::runtime {
namespace {

using testing::nap_ms;
using testing::Processes;
using testing::Shared;

struct Told {
  std::atomic<int> pid, fd;
};

TEST_CASE("a process is seen running, stopped and dead, whatever it calls itself") {
  Shared<Told> told;
  Processes child(1, [&](int) {
    prctl(PR_SET_NAME, ") S 1 ) (");
    told->pid = getpid();
    for (;;) nap_ms(10);
  });
  while (told->pid == 0) nap_ms(1);
  const Fd pidfd = open_process(told->pid);
  REQUIRE(pidfd.is_open());
  const auto running = process_status(told->pid);
  REQUIRE(running);
  CHECK_FALSE(running->is_stopped());
  CHECK_FALSE(running->has_ended());
  child.signal(0, SIGSTOP);
  while (!process_status(told->pid)->is_stopped()) nap_ms(1);
  pollfd entry{pidfd.get(), POLLIN, 0};
  CHECK(poll(&entry, 1, 0) == 0);
  CHECK(end_process(pidfd, told->pid));
  CHECK(poll(&entry, 1, 10000) == 1);
  const auto dead = process_status(told->pid);
  REQUIRE(dead);  // nobody has waited for it yet
  CHECK(dead->has_ended());
  CHECK(dead->start_time == running->start_time);
  child.wait(0);
  CHECK_FALSE(process_status(told->pid));
  CHECK(end_process(pidfd, told->pid));
  CHECK_FALSE(open_process(told->pid).is_open());
}

TEST_CASE("a status page is the same memory in both processes, and opens by number only") {
  Shared<Told> told;
  Processes child(1, [&](int) {
    const StatusPage page = StatusPage::create();
    told->fd = page.fd();
    told->pid = getpid();
    while (page->goodbye == 0) nap_ms(1);
    page->heartbeat = 5;
  });
  while (told->pid == 0) nap_ms(1);
  const StatusPage page = StatusPage::open(told->pid, told->fd);
  REQUIRE(page.is_open());
  CHECK(page->heartbeat == 0);
  CHECK_FALSE(StatusPage::open(told->pid, 0).is_open());
  CHECK_FALSE(StatusPage::open(told->pid, 999).is_open());
  page->goodbye = 1;
  CHECK(child.wait(0) == 0);
  CHECK(page->heartbeat == 5);
}

}  // namespace
}  // namespace resprout::runtime

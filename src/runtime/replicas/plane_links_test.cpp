#include "runtime/replicas/plane_links.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <numeric>
#include <thread>

#include "doctest/doctest.h"
#include "runtime/net/socket.hpp"
#include "runtime/testing/processes.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

constexpr auth::Secret secret_of(std::uint8_t value) {
  auth::Secret secret{};
  secret.fill(value);
  return secret;
}

VoteFrame numbered(std::uint64_t number) {
  VoteFrame frame{};
  frame.name.number = number;
  return frame;
}

std::vector<std::byte> bytes_from(std::size_t first, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(first + i);
  return bytes;
}

// A process as far as links know it, and all that it has heard.
class Process {
 public:
  struct Heard {
    Replica from;
    VoteFrame frame;
    std::vector<std::byte> bytes;
  };

  explicit Process(Replica self, std::int32_t planes = 2, std::int32_t ranks = 2,
                   auth::Secret secret = secret_of(1),
                   std::function<bool(std::int32_t)> is_known_lost = {},
                   PlaneLinks::Linger linger = {}, bool loses_one_by_one = false)
      : links_(
            {.secret = secret,
             .self = self,
             .planes = planes,
             .ranks = ranks,
             .is_known_lost = std::move(is_known_lost),
             .look_ns = 1'000'000,
             .linger = linger,
             .on_process_lost = loses_one_by_one ? [this](Replica replica) { note_loss(replica); }
                                                 : std::function<void(Replica)>{}},
            [this](Replica from, std::span<const std::byte> frame) { note(from, frame); },
            [this](std::int32_t plane) {
              const std::scoped_lock lock(mutex_);
              lost_.push_back(plane);
              changed_.notify_all();
            }) {}

  PlaneLinks& links() { return links_; }
  // False: it did not come true in time.
  template <typename Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(testing::watchdog_seconds),
                             [&] { return condition(heard_, lost_); });
  }
  bool wait_for_frames(std::size_t count) {
    return wait([&](const auto& heard, const auto&) { return heard.size() >= count; });
  }
  bool wait_for_loss() {
    return wait([](const auto&, const auto& lost) { return !lost.empty(); });
  }
  std::vector<Heard> heard() {
    const std::scoped_lock lock(mutex_);
    return heard_;
  }
  std::vector<std::int32_t> lost() {
    const std::scoped_lock lock(mutex_);
    return lost_;
  }
  // Of who loses processes one by one.
  std::vector<Replica> lost_processes() {
    const std::scoped_lock lock(mutex_);
    return lost_processes_;
  }
  bool wait_for_lost_processes(std::size_t count) {
    return wait([&](const auto&, const auto&) { return lost_processes_.size() >= count; });
  }

 private:
  void note_loss(Replica replica) {
    const std::scoped_lock lock(mutex_);
    lost_processes_.push_back(replica);
    changed_.notify_all();
  }
  void note(Replica from, std::span<const std::byte> frame) {
    const std::scoped_lock lock(mutex_);
    Heard heard{.from = from, .frame = {}, .bytes = {}};
    std::memcpy(&heard.frame, frame.data(), sizeof heard.frame);
    heard.bytes.assign(frame.begin() + sizeof heard.frame, frame.end());
    heard_.push_back(std::move(heard));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Heard> heard_;
  std::vector<std::int32_t> lost_;
  std::vector<Replica> lost_processes_;
  PlaneLinks links_;  // the last one: its thread uses the others
};

// Two planes of two ranks, connected.
struct Job {
  explicit Job(PlaneLinks::Linger linger = {}) {
    std::vector<LinkAddress> addresses;
    for (std::int32_t plane = 0; plane < 2; ++plane)
      for (std::int32_t rank = 0; rank < 2; ++rank) {
        processes.push_back(std::make_unique<Process>(Replica{plane, rank}, 2, 2, secret_of(1),
                                                      std::function<bool(std::int32_t)>{}, linger));
        addresses.push_back(processes.back()->links().address());
      }
    for (auto& process : processes) process->links().connect(addresses);
  }
  Process& at(std::int32_t plane, std::int32_t rank) {
    return *processes[static_cast<std::size_t>(2 * plane + rank)];
  }
  std::vector<std::unique_ptr<Process>> processes;
};

void wait_for_rejection(Process& process) {
  for (int look = 0; process.links().rejected_connections() == 0; ++look) {
    REQUIRE(look < 1000 * static_cast<int>(testing::watchdog_seconds));
    testing::nap_ms(1);
  }
}

}  // namespace

TEST_CASE("plane links: what is said arrives whole, in order, under the name of who said it") {
  Job job;
  constexpr std::size_t count = 500;
  for (std::size_t i = 0; i < count; ++i)
    job.at(0, 1).links().send({1, 0}, numbered(i), bytes_from(i, i));
  REQUIRE(job.at(1, 0).wait_for_frames(count));
  const auto heard = job.at(1, 0).heard();
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(heard[i].from == Replica{0, 1});
    CHECK(heard[i].frame == numbered(i));
    CHECK(heard[i].bytes == bytes_from(i, i));
  }
}

TEST_CASE("plane links: frames come to who listens to their channel, each in its order") {
  std::vector<std::vector<std::byte>> decisions;
  Process hears({1, 0}, 2, 1);
  Process says({0, 0}, 2, 1);
  hears.links().listen(Channel::decisions, [&](Replica from, std::span<const std::byte> frame) {
    CHECK(from == Replica{0, 0});
    decisions.emplace_back(frame.begin(), frame.end());
  });
  const std::vector<LinkAddress> addresses{says.links().address(), hears.links().address()};
  hears.links().connect(addresses);
  says.links().connect(addresses);
  for (std::size_t i = 0; i < 100; ++i) {
    says.links().send({1, 0}, Channel::decisions, bytes_from(i, i));
    says.links().send({1, 0}, numbered(i), bytes_from(i, 3));
  }
  REQUIRE(hears.wait_for_frames(100));
  hears.links().leave();
  REQUIRE(decisions.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(decisions[i] == bytes_from(i, i));
    CHECK(hears.heard()[i].frame == numbered(i));
  }
}

TEST_CASE("plane links: threads that wait move what is said, too, and it stays in order") {
  Job job;
  constexpr std::size_t count = 2000;
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (const auto& process : job.processes)
    threads.emplace_back([&] {
      while (!is_over.load()) process->links().drive();
    });
  for (std::size_t i = 0; i < count; ++i) {
    job.at(0, 1).links().send({1, 0}, numbered(i), bytes_from(i, i % 64));
    job.at(1, 0).links().send({0, 1}, numbered(i), {});
  }
  const bool has_come = job.at(1, 0).wait_for_frames(count) && job.at(0, 1).wait_for_frames(count);
  is_over = true;
  for (auto& thread : threads) thread.join();
  REQUIRE(has_come);
  const auto there = job.at(1, 0).heard();
  const auto here = job.at(0, 1).heard();
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(there[i].frame == numbered(i));
    CHECK(here[i].frame == numbered(i));
  }
}

TEST_CASE("plane links: what is patient goes out when its time is over") {
  Job job({.ns = 1'000'000});
  for (std::uint64_t i = 0; i < 20; ++i) {
    job.at(0, 0).links().send({1, 0}, numbered(i), {});
    job.at(0, 0).links().send({1, 1}, numbered(i), {});
    REQUIRE(job.at(1, 0).wait_for_frames(i + 1));
    REQUIRE(job.at(1, 1).wait_for_frames(i + 1));
  }
}

TEST_CASE("plane links: what is patient waits for a lot, for what is not, or for who drives") {
  const PlaneLinks::Linger forever{.ns = 3'600'000'000'000, .bytes = 100'000};
  Job job(forever);
  Process& says = job.at(0, 0);
  for (std::uint64_t i = 0; i < 200; ++i)
    says.links().send({1, 0}, numbered(i), bytes_from(i, 500));
  REQUIRE(job.at(1, 0).wait_for_frames(150));

  says.links().send({1, 0}, Channel::decisions, {});
  REQUIRE(job.at(1, 0).wait_for_frames(200));
  for (std::uint64_t i = 0; i < 200; ++i) CHECK(job.at(1, 0).heard()[i].frame == numbered(i));

  says.links().send({0, 1}, numbered(1), {});
  says.links().send({1, 1}, numbered(2), {});
  CHECK(job.at(0, 1).heard().empty());
  while (job.at(0, 1).heard().empty() || job.at(1, 1).heard().empty()) says.links().drive();

  says.links().send({1, 1}, numbered(3), {});
  says.links().leave();
  REQUIRE(job.at(1, 1).wait_for_frames(2));
}

namespace {

// Goes between two processes. The first connection ends before anything is proven, as it does to
// who was too slow; of the others it brings each end what the other one says.
class Doorkeeper {
 public:
  explicit Doorkeeper(std::uint16_t port)
      : port_(port), listener_(listen_on("127.0.0.1", 0)), thread_([this] { run(); }) {}
  ~Doorkeeper() {
    is_over_ = true;
    thread_.join();
  }
  std::uint16_t port() const { return local_port(listener_); }
  int turned_away() const { return turned_away_; }

 private:
  void run() {
    while (!is_over_) {
      testing::nap_ms(1);
      Fd caller = accept_on(listener_);
      if (caller.is_open() && turned_away_ == 0) {
        ++turned_away_;
      } else if (caller.is_open()) {
        Fd inside = connect_to("127.0.0.1", port_);
        pairs_.emplace_back(std::move(caller), std::move(inside));
      }
      for (auto& [one, other] : pairs_) {
        bring(one, other);
        bring(other, one);
      }
    }
  }
  static void bring(Fd& from, Fd& to) {
    std::array<char, 4096> bytes;
    const ssize_t n = recv(from.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    for (ssize_t sent = 0; sent < n;) {
      const ssize_t more =
          send(to.get(), bytes.data() + sent, static_cast<std::size_t>(n - sent), MSG_NOSIGNAL);
      if (more > 0) sent += more;
    }
  }

  std::uint16_t port_;
  Fd listener_;
  std::vector<std::pair<Fd, Fd>> pairs_;
  std::atomic<int> turned_away_{0};
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE(
    "plane links: who is turned away before it has proven itself comes again with all it said") {
  Process hears({1, 1});
  Process says({0, 0});
  Process brother({1, 0});
  Process neighbor({0, 1});
  const std::vector<LinkAddress> addresses{says.links().address(), neighbor.links().address(),
                                           brother.links().address(), hears.links().address()};
  const Doorkeeper door(addresses[3].port);
  std::vector<LinkAddress> seen_by_says = addresses;
  seen_by_says[3].port = door.port();
  hears.links().connect(addresses);
  brother.links().connect(addresses);
  neighbor.links().connect(addresses);
  says.links().connect(seen_by_says);
  for (std::uint64_t i = 0; i < 5; ++i) says.links().send({1, 1}, numbered(i), bytes_from(i, 100));
  REQUIRE(hears.wait_for_frames(5));
  CHECK(door.turned_away() == 1);
  for (std::uint64_t i = 0; i < 5; ++i) {
    CHECK(hears.heard()[i].frame == numbered(i));
    CHECK(hears.heard()[i].bytes == bytes_from(i, 100));
  }
  CHECK(says.lost().empty());
}

TEST_CASE("plane links: who has put something off is asked for it before frames go out") {
  Process hears({1, 0}, 2, 1);
  std::atomic<bool> is_put_off{false};
  std::optional<PlaneLinks> says;
  says.emplace(
      PlaneLinks::Setup{.secret = secret_of(1),
                        .self = {0, 0},
                        .linger = {.ns = 1'000'000},
                        .on_due =
                            [&] {
                              if (is_put_off.exchange(false)) says->send({1, 0}, numbered(7), {});
                            }},
      [](Replica, std::span<const std::byte>) {}, [](std::int32_t) {});
  const std::vector<LinkAddress> addresses{says->address(), hears.links().address()};
  hears.links().connect(addresses);
  says->connect(addresses);
  for (std::size_t i = 1; i <= 20; ++i) {
    is_put_off = true;
    CHECK(says->expect());
    REQUIRE(hears.wait_for_frames(i));
  }
  is_put_off = true;
  says->leave();
  REQUIRE(hears.wait_for_frames(21));
}

TEST_CASE("plane links: where nothing is patient nothing can be put off") {
  Job job;
  CHECK_FALSE(job.at(0, 0).links().expect());
}

TEST_CASE("plane links: what is said on a channel that nobody listens to is passed over") {
  Job job;
  job.at(0, 0).links().send({1, 0}, Channel::decisions, bytes_from(1, 1));
  job.at(0, 0).links().send({1, 0}, numbered(7), {});
  REQUIRE(job.at(1, 0).wait_for_frames(1));
  CHECK(job.at(1, 0).heard()[0].frame == numbered(7));
  CHECK(job.at(1, 0).lost().empty());
}

TEST_CASE("plane links: a copy of many megabytes arrives, and what is said both ways at once") {
  Job job;
  const auto large = bytes_from(7, std::size_t{9} << 20);
  job.at(0, 0).links().send({1, 0}, numbered(1), large);
  job.at(1, 0).links().send({0, 0}, numbered(2), large);
  REQUIRE(job.at(1, 0).wait_for_frames(1));
  REQUIRE(job.at(0, 0).wait_for_frames(1));
  CHECK(job.at(1, 0).heard()[0].bytes == large);
  CHECK(job.at(0, 0).heard()[0].bytes == large);
}

TEST_CASE("plane links: large frames go through memory, and stay in order with all others") {
  Job job;
  PlaneLinks& says = job.at(0, 0).links();
  Process& hears = job.at(1, 0);
  std::uint64_t sent = 0;
  // Until the other one has found it.
  while (says.placed_frames() == 0) {
    says.send({1, 0}, numbered(sent), bytes_from(sent, 100'000));
    REQUIRE(hears.wait_for_frames(static_cast<std::size_t>(++sent)));
  }
  for (const std::uint64_t end = sent + 300; sent < end; ++sent)
    says.send({1, 0}, numbered(sent), bytes_from(sent, sent % 3 == 0 ? 7 : 1000 * (sent % 90)));
  REQUIRE(hears.wait_for_frames(static_cast<std::size_t>(sent)));
  CHECK(says.placed_frames() > 100);
  const auto heard = hears.heard();
  for (std::uint64_t i = 0; i < sent; ++i) CHECK(heard[i].frame == numbered(i));
  for (std::uint64_t i = sent - 300; i < sent; ++i)
    CHECK(heard[i].bytes == bytes_from(i, i % 3 == 0 ? 7 : 1000 * (i % 90)));
}

TEST_CASE("plane links: what has no room in memory goes over the connection, in its order") {
  std::atomic<bool> may_go_on{true};
  Process hears({1, 0}, 2, 1);
  Process says({0, 0}, 2, 1);
  hears.links().listen(Channel::decisions, [&](Replica, std::span<const std::byte>) {
    while (!may_go_on.load()) testing::nap_ms(1);
  });
  const std::vector<LinkAddress> addresses{says.links().address(), hears.links().address()};
  hears.links().connect(addresses);
  says.links().connect(addresses);
  std::size_t sent = 0;
  while (says.links().placed_frames() == 0) {
    says.links().send({1, 0}, numbered(sent), bytes_from(sent, 10'000));
    REQUIRE(hears.wait_for_frames(++sent));
  }
  may_go_on = false;
  says.links().send({1, 0}, Channel::decisions, {});
  const std::size_t large = FrameMemory::capacity / 3;
  for (const std::size_t end = sent + 5; sent < end; ++sent)
    says.links().send({1, 0}, numbered(sent), bytes_from(sent, large));
  CHECK(says.links().placed_frames() <= 3);
  may_go_on = true;
  REQUIRE(hears.wait_for_frames(sent));
  const auto heard = hears.heard();
  for (std::size_t i = sent - 5; i < sent; ++i) {
    CHECK(heard[i].frame == numbered(i));
    CHECK(heard[i].bytes == bytes_from(i, large));
  }
}

TEST_CASE(
    "plane links: what was said before leaving arrives, and who leaves is not taken for lost") {
  for (int round = 0; round < 20; ++round) {
    Job job;
    job.at(0, 0).links().send({1, 1}, numbered(1), {});
    // Nobody reads this any more: what stays unread must not make it look like a crash.
    job.at(1, 0).links().send({0, 0}, numbered(2), bytes_from(0, 100000));
    job.at(0, 0).links().leave();
    job.at(0, 1).links().leave();
    REQUIRE(job.at(1, 1).wait_for_frames(1));
    job.at(1, 0).links().leave();
    job.at(1, 1).links().leave();
    for (const auto& process : job.processes) CHECK(process->lost().empty());
  }
}

TEST_CASE("plane links: who is killed takes its plane along at all siblings, once") {
  testing::Shared<std::array<LinkAddress, 4>> addresses;
  testing::Shared<std::atomic<int>> ready;
  Process here({0, 0});
  Process beside({0, 1});
  (*addresses)[0] = here.links().address();
  (*addresses)[1] = beside.links().address();
  testing::Processes plane(2, [&](int rank) {
    Process process({1, rank});
    (*addresses)[static_cast<std::size_t>(2 + rank)] = process.links().address();
    ++*ready;
    while (*ready < 3) testing::nap_ms(1);
    process.links().connect({addresses->begin(), addresses->end()});
    process.links().send({0, rank}, numbered(1), {});
    for (;;) testing::nap_ms(1000);
  });
  while (*ready < 2) testing::nap_ms(1);
  here.links().connect({addresses->begin(), addresses->end()});
  beside.links().connect({addresses->begin(), addresses->end()});
  ++*ready;
  REQUIRE(here.wait_for_frames(1));
  REQUIRE(beside.wait_for_frames(1));
  CHECK(here.lost().empty());
  plane.signal(0, SIGKILL);
  plane.signal(1, SIGKILL);
  REQUIRE(here.wait_for_loss());
  REQUIRE(beside.wait_for_loss());
  // What is said to it goes nowhere, and nobody is told again.
  here.links().send({1, 0}, numbered(2), {});
  here.links().send({1, 1}, numbered(2), {});
  here.links().leave();
  CHECK(here.lost() == std::vector<std::int32_t>{1});
  CHECK(beside.lost() == std::vector<std::int32_t>{1});
}

TEST_CASE("plane links: a plane that is nowhere from the start is lost") {
  Process process({0, 0}, 3, 1);
  Process other({2, 0}, 3, 1);
  const std::vector<LinkAddress> addresses{process.links().address(), LinkAddress{},
                                           other.links().address()};
  process.links().connect(addresses);
  other.links().connect(addresses);
  REQUIRE(process.wait_for_loss());
  REQUIRE(other.wait_for_loss());
  other.links().send({0, 0}, numbered(3), {});
  REQUIRE(process.wait_for_frames(1));
  CHECK(process.lost() == std::vector<std::int32_t>{1});
}

TEST_CASE("plane links: a plane whose connections stay and are silent is lost when that is known") {
  const Fd silent = listen_on("127.0.0.1");
  std::atomic<bool> is_known{false};
  std::atomic<int> looks{0};
  Process process({0, 0}, 2, 1, secret_of(1), [&](std::int32_t plane) {
    ++looks;
    return plane == 1 && is_known;
  });
  LinkAddress address = process.links().address();
  address.port = local_port(silent);
  process.links().connect({process.links().address(), address});
  while (looks < 3) testing::nap_ms(1);
  CHECK(process.lost().empty());
  is_known = true;
  REQUIRE(process.wait_for_loss());
  CHECK(process.lost() == std::vector<std::int32_t>{1});
}

TEST_CASE("plane links: of such a plane each process is lost, where they are lost one by one") {
  const Fd silent = listen_on("127.0.0.1");
  std::atomic<int> looks{0};
  const auto is_known_lost = [&](std::int32_t plane) { return plane == 1 && ++looks > 1; };
  Process process({0, 0}, 2, 2, secret_of(1), is_known_lost, {}, true);
  LinkAddress address = process.links().address();
  address.port = local_port(silent);
  const LinkAddress own = process.links().address();
  process.links().connect({own, own, address, address});
  REQUIRE(process.wait_for_lost_processes(2));
  while (looks < 5) testing::nap_ms(1);
  CHECK(process.lost_processes() == std::vector<Replica>{{1, 0}, {1, 1}});
  CHECK(process.lost().empty());
}

TEST_CASE("plane links: who does not know the secret is heard by nobody, and does no harm") {
  Job job;
  const std::vector<LinkAddress> addresses{
      job.at(0, 0).links().address(), job.at(0, 1).links().address(),
      job.at(1, 0).links().address(), job.at(1, 1).links().address()};
  Process foreign({1, 1}, 2, 2, secret_of(2));
  foreign.links().connect(addresses);
  foreign.links().send({0, 1}, numbered(9), {});
  REQUIRE(foreign.wait_for_loss());  // it is sent away
  wait_for_rejection(job.at(0, 1));

  const Fd garbage = connect_to("127.0.0.1", addresses[0].port);
  const std::vector<std::byte> noise(300, std::byte{0x5a});
  pollfd is_connected{.fd = garbage.get(), .events = POLLOUT, .revents = 0};
  REQUIRE(poll(&is_connected, 1, -1) == 1);
  REQUIRE(write(garbage.get(), noise.data(), noise.size()) > 0);
  wait_for_rejection(job.at(0, 0));

  job.at(1, 1).links().send({0, 0}, numbered(1), {});
  REQUIRE(job.at(0, 0).wait_for_frames(1));
  CHECK(job.at(0, 0).heard()[0].frame == numbered(1));
  CHECK(job.at(0, 0).lost().empty());
  CHECK(job.at(0, 1).lost().empty());
}

#include "runtime/replicas/verifier.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <numeric>
#include <thread>

#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::runtime;
using protocols::VoteMethod;

namespace {

using Bytes = std::vector<std::byte>;
using What = Verifier::Delivery::What;

constexpr MessageName to_itself{{1, 4, 4, 0, Stream::Of::messages}, 1};
constexpr MessageName of_collective{{1, 4, 4, 0, Stream::Of::results}, 1};

std::uint64_t digest_of(std::span<const std::byte> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{1}, [](auto sum, std::byte b) {
    return sum * 31 + static_cast<std::uint64_t>(b);
  });
}

const Bytes meant{std::byte{1}, std::byte{2}, std::byte{3}};
const Bytes wrong{std::byte{1}, std::byte{2}, std::byte{7}};

// The replicas of one rank, each with a thread that brings it what the others send.
class Planes {
 public:
  Planes(VoteMethod method, int degree) {
    for (std::int32_t plane = 0; plane < degree; ++plane)
      processes_.push_back(std::make_unique<Process>(*this, method, degree, plane));
    for (const auto& process : processes_) process->start();
  }
  ~Planes() {
    for (const auto& process : processes_) process->is_stopped = true;
    for (const auto& process : processes_) process->links.join();
  }

  // Each replica has `data[plane]`, and compares; what each gets. A replica without data does
  // nothing. All at once, each on a thread of its own.
  std::vector<Verifier::Delivery> compare(const std::vector<Bytes>& data,
                                          const MessageName& name = to_itself) {
    std::vector<Verifier::Delivery> got(data.size());
    std::vector<std::thread> programs;
    for (std::size_t plane = 0; plane < data.size(); ++plane) {
      if (data[plane].empty()) continue;
      programs.emplace_back([&, plane] {
        Verifier& verifier = processes_[plane]->verifier;
        const Verifier::Expected expected{name, "allreduce", data[plane].size(), digest_of};
        if (name.stream.of == Stream::Of::messages) {
          verifier.send(name, digest_of(data[plane]), data[plane]);
          verifier.receive(expected, true);
          verifier.take_own_copy(name, digest_of(data[plane]));
        } else {
          verifier.compare(expected, digest_of(data[plane]), true);
        }
        got[plane] = verifier.wait(name, [] {});
        if (findings(static_cast<int>(plane)).empty()) ++went_on_unsaid;
        verifier.finish([] {}, [] {});
      });
    }
    for (std::thread& program : programs) program.join();
    return got;
  }

  std::atomic<bool> says_slowly{false};
  std::atomic<int> went_on_unsaid{0};  // programs to which nothing had been said by then
  Verifier& verifier(int plane) { return processes_[static_cast<std::size_t>(plane)]->verifier; }
  std::vector<Finding> findings(int plane) {
    Process& process = *processes_[static_cast<std::size_t>(plane)];
    const std::scoped_lock lock(process.mutex);
    return process.findings;
  }

 private:
  struct Process final : VoteNetwork {
    Process(Planes& all, VoteMethod method, int degree, std::int32_t plane)
        : planes(all),
          self{plane, 4},
          verifier({.config = {method, degree}, .self = self}, *this, [this](const Finding& found) {
            if (planes.says_slowly) std::this_thread::sleep_for(std::chrono::milliseconds(20));
            const std::scoped_lock lock(mutex);
            findings.push_back(found);
          }) {}

    void send(Replica to, const VoteFrame& frame, std::span<const std::byte> bytes) override {
      Process& other = *planes.processes_[static_cast<std::size_t>(to.plane)];
      const auto head = bytes_of(frame);
      Bytes all(head.begin(), head.end());
      all.insert(all.end(), bytes.begin(), bytes.end());
      const std::scoped_lock lock(other.mutex);
      other.arrived.emplace_back(self, std::move(all));
    }
    void start() {
      links = std::thread([this] {
        while (!is_stopped) {
          std::unique_lock lock(mutex);
          if (arrived.empty()) {
            lock.unlock();
            std::this_thread::yield();
            continue;
          }
          const auto [from, frame] = std::move(arrived.front());
          arrived.pop_front();
          lock.unlock();
          verifier.handle(from, frame);
        }
      });
    }

    Planes& planes;
    const Replica self;
    std::mutex mutex;  // guards the next two
    std::deque<std::pair<Replica, Bytes>> arrived;
    std::vector<Finding> findings;
    std::atomic<bool> is_stopped{false};
    Verifier verifier;
    std::thread links;
  };

  std::vector<std::unique_ptr<Process>> processes_;
};

constexpr VoteMethod methods[] = {VoteMethod::all_to_all, VoteMethod::msg_plus_hash,
                                  VoteMethod::async, VoteMethod::async_hash};

bool is_lazy(VoteMethod method) { return protocols::DigestVoteConfig{method, 2}.is_lazy(); }

}  // namespace

TEST_CASE("what all replicas have is delivered and nothing is found") {
  for (const VoteMethod method : methods)
    for (const int degree : {2, 3}) {
      Planes planes(method, degree);
      for (const auto& got : planes.compare(std::vector(static_cast<std::size_t>(degree), meant)))
        CHECK((got.what == What::own || got.bytes == meant));
      for (int plane = 0; plane < degree; ++plane) CHECK(planes.findings(plane).empty());
      CHECK(planes.verifier(0).figures().unverified == 0);
    }
}

TEST_CASE("an eager method gives the replica whose data are wrong those of the majority") {
  for (const VoteMethod method : {VoteMethod::all_to_all, VoteMethod::msg_plus_hash}) {
    Planes planes(method, 3);
    const auto got = planes.compare({meant, wrong, meant});
    CHECK(got[0].what == What::own);
    CHECK(got[1].what == What::other);
    CHECK(got[1].bytes == meant);
    REQUIRE(planes.findings(1).size() == 1);
    const Finding found = planes.findings(1)[0];
    CHECK(found.name == to_itself);
    CHECK(found.call == "allreduce");
    CHECK(found.bytes == 3);
    CHECK(found.wrong_planes == 0b010);
    CHECK(found.end == Finding::End::outvoted);
    CHECK(!found.is_tainted);
  }
}

TEST_CASE("a lazy method gives a replica what it has, and tells it later that this was wrong") {
  Planes planes(VoteMethod::async_hash, 3);
  const auto got = planes.compare({wrong, meant, meant});
  CHECK((got[0].what == What::own || got[0].bytes == meant));
  REQUIRE(planes.findings(0).size() == 1);
  const Finding found = planes.findings(0)[0];
  CHECK(found.wrong_planes == 0b001);
  CHECK(found.is_tainted == (got[0].what == What::own));
  CHECK(found.is_replaced == found.is_tainted);
}

TEST_CASE("two replicas that differ: neither knows who is right, an eager method says so at once") {
  for (const VoteMethod method : methods) {
    Planes planes(method, 2);
    const auto got = planes.compare({meant, wrong});
    for (int plane = 0; plane < 2; ++plane) {
      if (!is_lazy(method)) CHECK(got[static_cast<std::size_t>(plane)].what == What::undecided);
      REQUIRE(planes.findings(plane).size() == 1);
      CHECK(planes.findings(plane)[0].end == Finding::End::undecided);
      CHECK(planes.findings(plane)[0].wrong_planes == 0);
    }
  }
}

TEST_CASE("who waits for what differs goes on when that is said: it may end with it") {
  for (const VoteMethod method : {VoteMethod::all_to_all, VoteMethod::msg_plus_hash}) {
    Planes planes(method, 2);
    planes.says_slowly = true;
    planes.compare({meant, wrong});
    CHECK(planes.went_on_unsaid == 0);
  }
}

TEST_CASE("who waits for a plane that is lost goes on, and counts what nobody has verified") {
  for (const VoteMethod method : methods) {
    Planes planes(method, 2);
    std::thread loses([&] { planes.verifier(0).lose_plane(1); });
    const auto got = planes.compare({meant, {}});
    loses.join();
    CHECK(got[0].what == What::own);
    CHECK(planes.findings(0).empty());
    CHECK(planes.verifier(0).figures().unverified == 1);
  }
}

TEST_CASE(
    "results of collectives are compared: the plane that is wrong learns it, and the others") {
  for (const VoteMethod method : methods) {
    Planes planes(method, 3);
    const auto got = planes.compare({meant, meant, wrong}, of_collective);
    for (int plane = 0; plane < 3; ++plane) {
      CAPTURE(plane);
      if (plane != 2) CHECK(got[static_cast<std::size_t>(plane)].what == What::own);
      for (const Finding& found : planes.findings(plane)) CHECK(found.wrong_planes == 0b100);
    }
    REQUIRE(planes.findings(2).size() == 1);
    CHECK(planes.findings(2)[0].end == Finding::End::lost);  // it is not replaced
    CHECK(planes.findings(2)[0].is_tainted == (got[2].what == What::own));
  }
}

TEST_CASE("results of collectives that are equal everywhere are no finding, whatever the method") {
  for (const VoteMethod method : methods)
    for (const std::size_t degree : {2U, 3U}) {
      Planes planes(method, static_cast<int>(degree));
      for (const auto& got : planes.compare(std::vector(degree, meant), of_collective))
        CHECK(got.what == What::own);
      for (std::size_t plane = 0; plane < degree; ++plane)
        CHECK(planes.findings(static_cast<int>(plane)).empty());
    }
}

TEST_CASE("what is settled is known to be right or wrong, whether or not all have said so") {
  for (const VoteMethod method : {VoteMethod::async_hash, VoteMethod::msg_plus_hash}) {
    Planes planes(method, 3);
    planes.verifier(0).settle([] {});  // nothing to wait for
    planes.compare({meant, wrong, meant}, of_collective);
    for (int plane = 0; plane < 3; ++plane) planes.verifier(plane).settle([] {});
    REQUIRE(planes.findings(1).size() == 1);
    CHECK(planes.findings(1)[0].wrong_planes == 2);
    CHECK(planes.findings(1)[0].digest == digest_of(meant));
  }
}

TEST_CASE("what is done again is not compared, and gets the copies of its own plane") {
  Planes planes(VoteMethod::msg_plus_hash, 2);
  Verifier& verifier = planes.verifier(0);
  verifier.repeat();
  verifier.send(to_itself, digest_of(wrong), wrong);
  verifier.receive({to_itself, "recv", 3, digest_of}, true);
  verifier.take_own_copy(to_itself, digest_of(wrong));
  CHECK(verifier.wait(to_itself, [] {}).what == What::own);
  verifier.compare({of_collective, "allreduce", 3, digest_of}, digest_of(wrong), true);
  CHECK(verifier.wait(of_collective, [] {}).what == What::own);
  verifier.settle([] {});
  verifier.stop_repeating();
  CHECK(verifier.figures().verified == 0);
  planes.compare({meant, meant});
  CHECK(verifier.figures().verified == 1);
  CHECK(planes.findings(0).empty());
}

TEST_CASE("who was wrong and has gone back agrees with the others again") {
  Planes planes(VoteMethod::async_hash, 3);
  planes.compare({meant, wrong, meant}, of_collective);
  CHECK_FALSE(planes.verifier(1).is_agreed());
  planes.verifier(1).repeat();
  planes.verifier(1).stop_repeating();
  CHECK(planes.verifier(1).is_agreed());
}

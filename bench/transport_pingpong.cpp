// What a message between two processes costs, over each transport, as a ratio to something that
// everybody knows: a pair of pipes for small messages, a memcpy for large ones.
//
//   transport_pingpong            prints one line a transport and size
//
// Half a round trip, median of many; each process has a core of its own and waits as the runtime
// does (runtime/idle.hpp).
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/idle.hpp"
#include "runtime/net/clock.hpp"
#include "runtime/transports/shm/shm_transport.hpp"
#include "runtime/transports/tcp/tcp_transport.hpp"

namespace {

using namespace resprout::runtime;

const std::vector<std::size_t> sizes = {8, 1024, 16 << 10, 256 << 10, 4 << 20};

int rounds_for(std::size_t bytes) { return bytes <= 1024 ? 20000 : bytes <= 65536 ? 4000 : 200; }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

class Counter final : public Receiver {
 public:
  explicit Counter(std::size_t bytes_max) : payload_(bytes_max + 64) {}
  std::byte* allocate_payload(int, const FrameHeader&, std::size_t) override {
    const auto at = reinterpret_cast<std::uintptr_t>(payload_.data());
    return payload_.data() + (64 - at % 64);
  }
  void abandon_payload(int, std::byte*) override {}
  void handle_frame(int, const FrameHeader&, std::span<const std::byte>, std::span<const std::byte>,
                    DataOwner) override {
    ++frames;
  }
  std::uint64_t frames = 0;

 private:
  std::vector<std::byte> payload_;
};

// One end of a ping-pong: sends and receives `bytes` by turns.
class End {
 public:
  End(Transport& transport, int peer, bool in_arena)
      : transport_(transport),
        peer_(peer),
        in_arena_(in_arena),
        idle_(idle_strategy(2, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)))) {}

  void send(std::span<const std::byte> data) {
    while (!transport_.try_send(peer_, {}, {}, data, transfer_)) wait();
    while (transfer_.pending != 0) wait();
  }
  void receive() {
    const std::uint64_t before = counter_.frames;
    while (counter_.frames == before) wait();
  }
  std::span<const std::byte> payload(std::size_t bytes) {
    std::byte* const shared = in_arena_ ? transport_.allocate_shared(bytes) : nullptr;
    if (shared != nullptr) {
      std::memset(shared, 1, bytes);
      return {shared, bytes};
    }
    own_.assign(bytes, std::byte{1});
    return own_;
  }

 private:
  void wait() {
    if (transport_.progress(counter_)) {
      idle_.reset();
    } else {
      idle_.pause();
    }
  }

  Transport& transport_;
  const int peer_;
  const bool in_arena_;
  Counter counter_{sizes.back()};
  Transfer transfer_;
  Idle idle_;
  std::vector<std::byte> own_;
};

cpu_set_t own_cpus() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) CPU_ZERO(&cpus);
  return cpus;
}

// To one of the processors that this program was given at its start, if there are so many.
void pin_to(int which) {
  static const cpu_set_t given = own_cpus();
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &given) && seen++ == which) CPU_SET(cpu, &one);
  if (CPU_COUNT(&one) == 1) sched_setaffinity(0, sizeof one, &one);
}

// Runs `a` here and `b` in a child; both get the size, and `a` returns the time of one round.
std::vector<double> measure(const std::function<double(std::size_t)>& a,
                            const std::function<void(std::size_t)>& b) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    pin_to(1);
    for (const std::size_t bytes : sizes)
      for (int round = 0; round < rounds_for(bytes); ++round) b(bytes);
    _exit(0);
  }
  std::vector<double> out;
  for (const std::size_t bytes : sizes) {
    std::vector<double> halves;
    for (int round = 0; round < rounds_for(bytes); ++round) halves.push_back(a(bytes) / 2);
    out.push_back(median(std::move(halves)));
  }
  waitpid(child, nullptr, 0);
  return out;
}

double timed(const std::function<void()>& action) {
  const std::int64_t begin = monotonic_ns();
  action();
  return static_cast<double>(monotonic_ns() - begin);
}

std::vector<double> measure_ends(const std::function<std::unique_ptr<Transport>(int)>& open,
                                 bool in_arena) {
  struct Side {
    std::unique_ptr<Transport> transport;
    std::unique_ptr<End> end;
    std::span<const std::byte> data;
  };
  const auto prepare = [&](Side& side, int rank, std::size_t bytes) {
    if (side.transport == nullptr) {
      side.transport = open(rank);
      side.end = std::make_unique<End>(*side.transport, 1 - rank, in_arena);
    }
    if (side.data.size() != bytes) side.data = side.end->payload(bytes);
  };
  Side here, there;
  return measure(
      [&](std::size_t bytes) {
        prepare(here, 0, bytes);
        return timed([&] {
          here.end->send(here.data);
          here.end->receive();
        });
      },
      [&](std::size_t bytes) {
        prepare(there, 1, bytes);
        there.end->receive();
        there.end->send(there.data);
      });
}

std::vector<double> measure_shm(bool in_arena) {
  const auto segment = ShmSegment::create({.local_ranks = 2});
  const std::vector<int> ranks = {0, 1};
  return measure_ends(
      [&](int rank) {
        return std::make_unique<ShmTransport>(ShmSegment::attach(segment->name()), ranks, rank);
      },
      in_arena);
}

std::vector<double> measure_tcp() {
  resprout::runtime::auth::Secret secret{};
  std::unique_ptr<TcpTransport> ends[2];
  std::vector<TcpEndpoint> endpoints;
  for (int rank = 0; rank < 2; ++rank) {
    ends[rank] = std::make_unique<TcpTransport>(rank, secret, "127.0.0.1");
    endpoints.push_back({"127.0.0.1", ends[rank]->port()});
  }
  return measure_ends(
      [&](int rank) {
        ends[rank]->set_peers(endpoints);
        return std::move(ends[rank]);
      },
      false);
}

void move_all(int fd, std::vector<char>& data, bool writes) {
  for (std::size_t done = 0; done < data.size();) {
    const ssize_t n = writes ? write(fd, data.data() + done, data.size() - done)
                             : read(fd, data.data() + done, data.size() - done);
    if (n <= 0) _exit(1);
    done += static_cast<std::size_t>(n);
  }
}

std::vector<double> measure_pipe() {
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return {};
  std::vector<char> data;
  return measure(
      [&](std::size_t bytes) {
        data.resize(bytes);
        return timed([&] {
          move_all(there[1], data, true);
          move_all(back[0], data, false);
        });
      },
      [&](std::size_t bytes) {
        data.resize(bytes);
        move_all(there[0], data, false);
        move_all(back[1], data, true);
      });
}

std::vector<double> measure_memcpy() {
  std::vector<double> out;
  for (const std::size_t bytes : sizes) {
    std::vector<char> from(bytes, 1), to(bytes);
    std::vector<double> times;
    for (int round = 0; round < 300; ++round) {
      times.push_back(timed([&] { std::memcpy(to.data(), from.data(), bytes); }));
      asm volatile("" : : "r"(to.data()) : "memory");
    }
    out.push_back(median(std::move(times)));
  }
  return out;
}

}  // namespace

int main() {
  pin_to(0);
  const std::vector<double> copy = measure_memcpy();
  const std::vector<double> pipes = measure_pipe();
  const auto print = [&](const char* name, const std::vector<double>& times) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      std::printf("%-10s %8zu B %12.2f us  %6.2f of a pipe  %8.2f of a memcpy\n", name, sizes[i],
                  times[i] / 1e3, times[i] / pipes[i], times[i] / copy[i]);
  };
  print("pipe", pipes);
  print("shm", measure_shm(false));
  print("shm-arena", measure_shm(true));
  print("tcp", measure_tcp());
}

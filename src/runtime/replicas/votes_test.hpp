// The replicas of a sender and of a receiver, whose votes are what they would be in a job: for unit
// tests.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/replicas/votes.hpp"

namespace resprout::runtime {

using protocols::DigestVoteConfig;
using protocols::VoteEvent;
using protocols::VoteEventKind;
using protocols::VoteMethod;

using Bytes = std::vector<std::byte>;

inline constexpr VoteMethod methods[] = {VoteMethod::all_to_all, VoteMethod::msg_plus_hash,
                                         VoteMethod::async, VoteMethod::async_hash};

// FNV-1a: any hash will do here.
inline std::uint64_t digest_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint8_t>(byte)) * 1099511628211u;
  return hash;
}

inline Bytes what_is_meant(std::uint64_t number) {
  return {static_cast<std::byte>(number), static_cast<std::byte>(number >> 8), std::byte{7}};
}

// What one receiver's program has of one message, and what was said of it.
struct Had {
  std::optional<Bytes> own;   // of its own plane
  std::optional<Bytes> data;  // that it works with
  std::vector<VoteEvent> events;
  std::vector<std::int32_t> absent;  // planes that do not have it

  const VoteEvent* find(VoteEventKind kind) const {
    const auto at = std::find_if(events.begin(), events.end(),
                                 [&](const VoteEvent& event) { return event.kind == kind; });
    return at == events.end() ? nullptr : &*at;
  }
  bool has(VoteEventKind kind) const { return find(kind) != nullptr; }
};

// The replicas of one sender and of one receiver (which may be the same processes), with messages
// on their way in any order that keeps those between two processes in order.
class World {
 public:
  struct Case {
    DigestVoteConfig config;
    bool is_same = false;  // sender and receiver are one rank
    std::uint64_t messages = 1;
    bool keeps_copies = true;
    std::size_t bytes = 3;   // of each message
    bool stands_in = false;  // processes are lost one by one, and what they have sent is kept
  };

  World(const Case& given, std::uint64_t seed) : given_(given), random_(seed) {
    for (std::int32_t plane = 0; plane < given.config.degree; ++plane)
      for (const std::int32_t rank : {sender_rank, receiver_rank()})
        if (find({plane, rank}) == nullptr)
          processes_.push_back(std::make_unique<Process>(*this, Replica{plane, rank}));
  }

  // The n-th message is another one at this replica of its sender.
  void corrupt(std::int32_t replica, std::uint64_t number) { corrupted_ = {replica, number}; }

  // The first message is another one when it comes to the receiver of this plane.
  void damage_in_plane(std::int32_t plane) { damaged_ = plane; }

  // The programs of these planes have only so many messages.
  void give_fewer(const std::set<std::int32_t>& planes, std::uint64_t messages) {
    fewer_ = {planes, messages};
  }

  // Its rank compares nothing. REQUIRES: sender and receiver are one, of one message.
  void abstain(std::int32_t plane) { abstainer_ = plane; }

  // What the receiver of this plane has of the first message is a part only.
  void truncate(std::int32_t plane) { truncated_.insert(plane); }

  // Its programs do nothing more, until they are killed.
  void stop(std::int32_t plane) { stopped_ = plane; }

  // What its processes have sent may still arrive, up to any point.
  void kill_plane(std::int32_t plane) {
    const auto cut = [&](auto& queue) { queue.resize(random_.below(queue.size() + 1)); };
    for (const auto& process : processes_) {
      if (process->self.plane != plane) {
        process->to_hear.push_back(plane);
        continue;
      }
      process->is_alive = false;
      for (auto& [to, frames] : process->out) cut(frames);
    }
  }

  // The same of one process. What it has given to MPI may still arrive; but from the moment that
  // its plane knows of its loss, nothing of that is received any more.
  void kill(Replica victim) {
    Process& dead = *find(victim);
    dead.is_alive = false;
    for (auto& [to, frames] : dead.out) frames.resize(random_.below(frames.size() + 1));
    for (const auto& process : processes_) process->processes_to_hear.push_back(victim);
  }

  // Until nothing can happen any more; `meanwhile` is called before each step.
  template <typename Meanwhile>
  void run(Meanwhile meanwhile) {
    for (int step = 0;; ++step) {
      meanwhile(step);
      std::vector<std::function<void()>> actions;
      for (const auto& process : processes_) collect(*process, actions);
      if (actions.empty()) return;
      actions[static_cast<std::size_t>(random_.below(actions.size()))]();
    }
  }
  void run() {
    run([](int) {});
  }

  // Whatever has been sent, and is sent because of that.
  void deliver_all() {
    for (bool is_any = true; is_any;) {
      is_any = false;
      for (const auto& process : processes_)
        for (auto& [to, frames] : process->out)
          for (; !frames.empty(); frames.pop_front()) {
            is_any = true;
            find(to)->votes.handle(process->self, frames.front().frame, frames.front().bytes);
          }
    }
  }

  void finish() {
    for (const auto& process : processes_)
      if (process->is_alive) process->votes.finish_own_plane();
  }
  std::uint64_t kept_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& process : processes_)
      if (process->is_alive) bytes += process->votes.load().bytes;
    return bytes;
  }

  template <typename Function>
  void for_each_receiver(Function function) {
    for (const auto& process : processes_)
      if (process->is_alive && process->self.rank == receiver_rank()) function(*process);
  }
  bool all(bool (Votes::*question)() const) const {
    return std::all_of(processes_.begin(), processes_.end(), [&](const auto& process) {
      return !process->is_alive || (process->votes.*question)();
    });
  }
  int living_senders() const {
    return static_cast<int>(
        std::count_if(processes_.begin(), processes_.end(), [](const auto& process) {
          return process->is_alive && process->self.rank == sender_rank;
        }));
  }
  std::int32_t receiver_rank() const { return given_.is_same ? sender_rank : 9; }

  static constexpr std::int32_t sender_rank = 4;

  struct OnWire {
    VoteFrame frame;
    Bytes bytes;
  };
  struct Process final : VoteNetwork {
    Process(World& world, Replica replica)
        : self(replica),
          votes(setup_of(world, replica, kept), *this,
                [this](auto& name, auto& event, auto bytes) { note(name, event, bytes); },
                {.agreed =
                     [this, &of = world.given_.config](const MessageName& name) {
                       const int all = of.sends_digests() ? 2 : of.degree;
                       note(name, {VoteEventKind::confirm}, {});
                       note(name, {VoteEventKind::finish, no_rank, all}, {});
                     },
                 .has_machine =
                     [this](const MessageName& name, const Votes::Label& label) {
                       CHECK(std::string(label.call) == "recv");
                       CHECK(had[name.number].has(VoteEventKind::deliver));
                     },
                 .absent =
                     [this](const MessageName& name, std::int32_t plane) {
                       had[name.number].absent.push_back(plane);
                     }}) {}

    static Votes::Setup setup_of(const World& world, Replica replica,
                                 const std::map<std::uint64_t, Bytes>& kept) {
      Votes::Setup setup{.config = world.given_.config,
                         .self = replica,
                         .keeps_copies = world.given_.keeps_copies};
      if (world.given_.stands_in)
        setup.said = [&kept](const MessageName& name) -> std::optional<Bytes> {
          const auto at = kept.find(name.number);
          return at != kept.end() ? std::optional(at->second) : std::nullopt;
        };
      return setup;
    }
    void send(Replica to, const VoteFrame& frame, std::span<const std::byte> bytes) override {
      out[to].push_back({frame, {bytes.begin(), bytes.end()}});
    }
    void note(const MessageName& name, const VoteEvent& event, std::span<const std::byte> bytes) {
      Had& had_now = had[name.number];
      had_now.events.push_back(event);
      const bool is_of_copy =
          event.kind == VoteEventKind::deliver || event.kind == VoteEventKind::repair;
      if (!is_of_copy) return;
      if (bytes.empty())
        had_now.data = had_now.own;
      else
        had_now.data = Bytes(bytes.begin(), bytes.end());
    }

    Replica self;
    bool is_alive = true;
    std::map<std::uint64_t, Had> had;
    std::map<std::uint64_t, Bytes> kept;  // that it has sent
    Votes votes;
    std::uint64_t sent = 0;
    std::uint64_t posted = 0;
    std::uint64_t taken = 0;
    bool has_ended = false;
    int asked = 0;
    std::deque<Bytes> native;   // what MPI has on its way to this receiver
    std::size_t completed = 0;  // so many of these it has received
    std::map<Replica, std::deque<OnWire>> out;
    std::vector<std::int32_t> to_hear;  // lost planes
    std::vector<Replica> processes_to_hear;
    std::set<Replica> heard;
  };

  Process* find(Replica replica) {
    const auto at = std::find_if(processes_.begin(), processes_.end(),
                                 [&](const auto& process) { return process->self == replica; });
    return at == processes_.end() ? nullptr : at->get();
  }

 private:
  MessageName name(std::uint64_t number) const {
    return {{1, sender_rank, receiver_rank(), 5, Stream::Of::messages}, number};
  }

  std::uint64_t messages_of(const Process& process) const {
    return fewer_.first.contains(process.self.plane) ? fewer_.second : given_.messages;
  }

  // Only where that is asked for: who is through says so, and who waits asks at any time.
  void collect_ends(Process& process, std::vector<std::function<void()>>& actions) {
    if (fewer_.first.empty() || !process.is_alive) return;
    const bool has_sent = process.self.rank != sender_rank || process.sent == messages_of(process);
    const bool has_got =
        process.self.rank != receiver_rank() || process.taken == messages_of(process);
    if (!process.has_ended && has_sent && has_got)
      actions.push_back([&] {
        process.has_ended = true;
        process.votes.end();
      });
    if (!process.votes.are_all_over() && process.asked < 30)
      actions.push_back([&] {
        ++process.asked;
        process.votes.ask_who_is_late();
      });
  }

  void collect(Process& process, std::vector<std::function<void()>>& actions) {
    collect_ends(process, actions);
    const bool is_abstainer = process.self.plane == abstainer_;
    if (is_abstainer && process.sent == 0)
      actions.push_back([&] {
        process.sent = 1;
        process.votes.abstain(name(1));
      });
    const bool does_anything = process.is_alive && process.self.plane != stopped_ && !is_abstainer;
    if (does_anything && process.self.rank == sender_rank && process.sent < messages_of(process))
      actions.push_back([&] { send_next(process); });
    if (does_anything && process.self.rank == receiver_rank()) {
      if (given_.stands_in)
        collect_receives_of_mortals(process, actions);
      else
        collect_receives(process, actions);
    }
    for (auto& [to, frames] : process.out) {
      Process* receiver = find(to);
      if (frames.empty() || !receiver->is_alive) continue;
      actions.push_back([&process, receiver, &frames = frames] {
        const OnWire arrived = std::move(frames.front());
        frames.pop_front();
        receiver->votes.handle(process.self, arrived.frame, arrived.bytes);
      });
    }
    if (process.is_alive && !process.to_hear.empty())
      actions.push_back([&process] {
        const std::int32_t lost = process.to_hear.back();
        process.to_hear.pop_back();
        process.votes.lose_plane(lost);
      });
    if (process.is_alive && !process.processes_to_hear.empty())
      actions.push_back([&process] {
        const Replica lost = process.processes_to_hear.back();
        process.processes_to_hear.pop_back();
        process.heard.insert(lost);
        process.votes.lose(lost);
      });
  }

  void collect_receives(Process& process, std::vector<std::function<void()>>& actions) {
    if (process.posted == 0 && truncated_.contains(process.self.plane)) {
      if (!process.native.empty()) actions.push_back([&] { take_part_of_next(process); });
      return;
    }
    if (process.posted < messages_of(process))
      actions.push_back([&] { process.votes.receive(name(++process.posted), digest_of); });
    if (process.taken < process.posted && !process.native.empty())
      actions.push_back([&] { take_next(process); });
    if (process.taken == process.posted && !process.native.empty())
      actions.push_back([&] { receive_next(process); });
  }

  // What MPI has received before the loss of the sender was known is there, also if that becomes
  // known before the program asks for it. What it has not is left to the siblings.
  void collect_receives_of_mortals(Process& process, std::vector<std::function<void()>>& actions) {
    const bool is_orphan = process.heard.contains({process.self.plane, sender_rank});
    if (is_orphan) process.native.resize(std::min(process.native.size(), process.completed));
    if (process.completed < process.native.size()) actions.push_back([&] { ++process.completed; });
    if (process.completed > 0) {
      actions.push_back([&] {
        --process.completed;
        receive_next(process);
      });
    } else if (is_orphan && process.posted < messages_of(process)) {
      actions.push_back([&] {
        process.votes.receive(name(++process.posted), digest_of);
        ++process.taken;
      });
    }
  }

  void send_next(Process& process) {
    const std::uint64_t number = ++process.sent;
    Bytes bytes = what_is_meant(number);
    bytes.resize(given_.bytes);
    if (corrupted_ == std::pair(process.self.plane, number)) bytes[1] ^= std::byte{0x10};
    process.kept[number] = bytes;
    process.votes.send(name(number), digest_of(bytes), bytes);
    if (damaged_ == process.self.plane) bytes[0] ^= std::byte{1};
    find({process.self.plane, receiver_rank()})->native.push_back(bytes);
  }

  void take_next(Process& process) {
    const std::uint64_t number = ++process.taken;
    process.had[number].own = process.native.front();
    process.native.pop_front();
    process.votes.take_own_copy(name(number), digest_of(*process.had[number].own));
  }

  void take_part_of_next(Process& process) {
    process.native.pop_front();
    ++process.taken;
    process.votes.abstain(name(++process.posted));
  }

  // Both at once.
  void receive_next(Process& process) {
    const std::uint64_t number = process.posted + 1;
    Had& had = process.had[number];
    had.own = process.native.front();
    const std::uint64_t digest = digest_of(*had.own);
    had.events.push_back({VoteEventKind::deliver});
    if (process.votes.maybe_receive_plain(name(number), {"recv", 3, digest_of}, digest)) {
      had.data = had.own;
      process.native.pop_front();
      ++process.posted;
      ++process.taken;
    } else {
      had.events.pop_back();
      process.native.pop_front();
      ++process.taken;
      process.votes.receive(name(++process.posted), digest_of, digest);
    }
  }

  const Case given_;
  Random random_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::pair<std::int32_t, std::uint64_t> corrupted_{-1, 0};
  std::int32_t damaged_ = -1;
  std::int32_t stopped_ = -1;
  std::int32_t abstainer_ = -1;
  std::set<std::int32_t> truncated_;
  std::pair<std::set<std::int32_t>, std::uint64_t> fewer_;
};

template <typename Function>
void for_each_case(Function function) {
  for (const VoteMethod method : methods)
    for (const std::int32_t degree : {2, 3})
      for (const bool is_same : {false, true}) {
        CAPTURE(static_cast<int>(method));
        CAPTURE(degree);
        CAPTURE(is_same);
        function(World::Case{{method, degree}, is_same, 1, true});
      }
}

inline void check_verified(const Had& had, std::uint64_t number, int agreeing) {
  REQUIRE(had.data);
  CHECK(*had.data == what_is_meant(number));
  CHECK(had.has(VoteEventKind::confirm));
  REQUIRE(had.has(VoteEventKind::finish));
  CHECK(had.find(VoteEventKind::finish)->agreeing == agreeing);
}

}  // namespace resprout::runtime

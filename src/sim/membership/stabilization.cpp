// See stabilization.hpp.
#include "sim/membership/stabilization.hpp"

#include <memory>
#include <queue>
#include <tuple>
#include <vector>

#include "core/invariant.hpp"
#include "protocols/membership/membership.hpp"
#include "sim/membership/network.hpp"

namespace resprout::sim {
namespace {

using Protocol = protocols::LargeMembership;
using protocols::MembershipEventKind;
using protocols::MembershipKind;

// Groups of processes that always talk: a parent sends to all its children, they answer, and when
// it has the last answer it begins again.
class Talk {
 public:
  Talk(std::int32_t nodes, std::int32_t children)
      : children_(children), groups_(static_cast<std::size_t>(nodes / (children + 1))) {}

  std::int32_t groups() const { return static_cast<std::int32_t>(groups_.size()); }
  std::int32_t children() const { return children_; }

  void begin(std::int32_t group, Time now) {
    Group& it = at(group);
    it.began = now;
    it.missing = children_;
  }
  // Whether that was the last answer.
  bool handle_answer(std::int32_t group, Time now) {
    Group& it = at(group);
    if (--it.missing > 0) return false;
    it.taken += now - it.began;
    ++it.rounds;
    return true;
  }
  std::int64_t rounds() const {
    std::int64_t all = 0;
    for (const Group& group : groups_) all += group.rounds;
    return all;
  }
  Duration taken() const {
    Duration all = 0;
    for (const Group& group : groups_) all += group.taken;
    return all;
  }
  void forget() {
    for (Group& group : groups_) group.taken = group.rounds = 0;
  }

 private:
  struct Group {
    Time began{};
    std::int32_t missing = 0;
    Duration taken = 0;
    std::int64_t rounds = 0;
  };
  Group& at(std::int32_t group) { return groups_[static_cast<std::size_t>(group)]; }

  std::int32_t children_;
  std::vector<Group> groups_;
};

// What has been measured of talk before all groups are in step with the switch says little.
constexpr std::int64_t warm_up_rounds = 50;
constexpr std::int64_t measured_rounds = 200;

enum class Kind : std::uint8_t { begin, question, answer, departure, arrival, handling };

struct Occasion {
  Time at;
  std::int64_t order;
  Kind kind;
  std::int32_t about;                                  // the group, or the receiver
  std::shared_ptr<const Protocol::Message> message{};  // departure, arrival, handling
};
struct Later {
  bool operator()(const Occasion& a, const Occasion& b) const {
    return std::tie(a.at, a.order) > std::tie(b.at, b.order);
  }
};

class Occasions {
 public:
  void add(Time at, Kind kind, std::int32_t about,
           std::shared_ptr<const Protocol::Message> message = nullptr) {
    queue_.push({at, order_++, kind, about, std::move(message)});
  }
  bool is_empty() const { return queue_.empty(); }
  Occasion take() {
    Occasion next = queue_.top();
    queue_.pop();
    return next;
  }

 private:
  std::priority_queue<Occasion, std::vector<Occasion>, Later> queue_;
  std::int64_t order_ = 0;
};

// One step of the talk, if it is one.
bool maybe_talk(const Occasion& occasion, Talk& talk, SerializingSwitch& network,
                Occasions& occasions) {
  const Time now = occasion.at;
  const std::int32_t group = occasion.about;
  if (occasion.kind == Kind::question) {
    occasions.add(network.pass(now), Kind::answer, group);
    return true;
  }
  if (occasion.kind == Kind::answer && !talk.handle_answer(group, now)) return true;
  if (occasion.kind != Kind::answer && occasion.kind != Kind::begin) return false;
  talk.begin(group, now);
  for (std::int32_t i = 0; i < talk.children(); ++i)
    occasions.add(network.pass(now), Kind::question, group);
  return true;
}

// Groups do not begin all at once.
void begin_all(const Talk& talk, Duration latency, Occasions& occasions) {
  for (std::int32_t group = 0; group < talk.groups(); ++group)
    occasions.add(Time{latency * group / talk.groups()}, Kind::begin, group);
}

class Stabilizing {
 public:
  explicit Stabilizing(const StabilizationScene& scene)
      : scene_(scene),
        config_{{scene.radix}, 0},
        torus_(scene.procs),
        switch_(scene.latency, scene.service),
        talk_(scene.talkers > 0 ? scene.procs : 0, std::max(scene.talkers, 1)),
        busy_until_(static_cast<std::size_t>(scene.procs)) {
    const auto all = Protocol::Ids::first(scene.procs);
    for (std::int32_t id = 0; id < scene.procs; ++id) {
      machines_.push_back(Protocol::founder(config_, rank_at(id), all));
      machines_.back().start({});
      while (machines_.back().poll_event()) continue;
      while (machines_.back().poll_send()) continue;
    }
  }

  Stabilization run() {
    warm_up();
    begin_ = now_;
    // The root is told, and takes its time for it.
    auto told = std::make_shared<Protocol::Message>();
    told->kind = MembershipKind::report;
    occasions_.add(now_ + scene_.processing, Kind::handling, 0, told);
    while (missing_ > 0) {
      RESPROUT_INVARIANT(!occasions_.is_empty());
      const Occasion occasion = occasions_.take();
      now_ = occasion.at;
      if (!maybe_talk(occasion, talk_, switch_, occasions_)) act(occasion);
    }
    return result_;
  }

 private:
  void warm_up() {
    if (scene_.talkers == 0 || talk_.groups() == 0) return;
    begin_all(talk_, scene_.latency, occasions_);
    while (talk_.rounds() < warm_up_rounds * talk_.groups()) {
      const Occasion occasion = occasions_.take();
      now_ = occasion.at;
      maybe_talk(occasion, talk_, switch_, occasions_);
    }
  }

  void act(const Occasion& occasion) {
    if (occasion.kind == Kind::departure) {
      if (occasion.message->to != scene_.victim)
        occasions_.add(arrival_of(*occasion.message), Kind::arrival, index(occasion.message->to),
                       occasion.message);
      return;
    }
    Protocol& machine = machines_[static_cast<std::size_t>(occasion.about)];
    if (occasion.kind == Kind::arrival) {
      const Duration cost = cost_of(*occasion.message);
      if (cost > 0) {
        occasions_.add(work(occasion.about, cost), Kind::handling, occasion.about,
                       occasion.message);
        return;
      }
    }
    if (occasion.message->kind == MembershipKind::report)
      machine.handle_suspicion(now_, scene_.victim, protocols::Evidence::death);
    else
      machine.handle_message(now_, *occasion.message);
    drain(machine);
  }

  // Of a message that has come: o, and the paper's O_cp for updating the tree, once at each
  // process.
  Duration cost_of(const Protocol::Message& message) const {
    return scene_.overhead + (message.kind == MembershipKind::propose ? scene_.processing : 0);
  }

  // When `process` has worked for so long, after all that it has to do already.
  Time work(std::int32_t process, Duration cost) {
    Time& busy = busy_until_[static_cast<std::size_t>(process)];
    busy = std::max(busy, now_) + cost;
    return busy;
  }

  void drain(Protocol& machine) {
    while (const auto event = machine.poll_event()) {
      if (event->kind == MembershipEventKind::decide) result_.stabilized = now_ - begin_;
      if (event->kind != MembershipEventKind::install) continue;
      result_.installed = now_ - begin_;
      --missing_;
    }
    while (const auto message = machine.poll_send()) {
      ++result_.messages;
      const std::int32_t from = index(message->from);
      // What costs nothing does not wait for what else is to be done.
      const Time departs = scene_.overhead > 0 ? work(from, scene_.overhead) : now_;
      occasions_.add(departs, Kind::departure, from,
                     std::make_shared<const Protocol::Message>(*message));
    }
  }

  Time arrival_of(const Protocol::Message& message) {
    switch (scene_.network) {
      case NetworkKind::uniform:
        return now_ + scene_.latency;
      case NetworkKind::torus:
        return now_ + scene_.latency * torus_.hops(index(message.from), index(message.to));
      case NetworkKind::ethernet:
        break;
    }
    return switch_.pass(now_);
  }

  const StabilizationScene scene_;
  protocols::MembershipConfig config_;
  TorusOfMidplanes torus_;
  SerializingSwitch switch_;
  Talk talk_;
  std::vector<Protocol> machines_;
  std::vector<Time> busy_until_;
  Occasions occasions_;
  Time now_{};
  Time begin_{};
  Stabilization result_;
  std::int32_t missing_ = scene_.procs - 1;  // live processes without the new view
};

}  // namespace

Stabilization stabilize(const StabilizationScene& scene) {
  RESPROUT_INVARIANT(scene.procs >= 2 && index(scene.victim) > 0 &&
                     index(scene.victim) < scene.procs);
  return Stabilizing(scene).run();
}

Duration contention_latency(std::int32_t nodes, std::int32_t children, Duration latency,
                            Duration service) {
  RESPROUT_INVARIANT(children >= 1 && nodes > children && service <= latency);
  Talk talk(nodes, children);
  SerializingSwitch network(latency, service);
  Occasions occasions;
  begin_all(talk, latency, occasions);
  const auto until = [&](std::int64_t rounds) {
    while (talk.rounds() < rounds * talk.groups())
      maybe_talk(occasions.take(), talk, network, occasions);
  };
  until(warm_up_rounds);
  talk.forget();
  until(measured_rounds);
  return talk.taken() / talk.rounds() / 2;
}

}  // namespace resprout::sim

// A group of processes with local views whose messages arrive in the order in which they were sent.
// Thread rule: none.
#pragma once

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocols/local_membership/local_membership.hpp"

namespace resprout::protocols::local_membership_test {

using Machine = LargeLocalMembership;

inline const MembershipConfig binary{{2}, 100};

class Group {
 public:
  explicit Group(int founders, const MembershipConfig& config = binary) : config_(config) {
    const LocalView first = LocalView::first(founders);
    for (int id = 0; id < founders; ++id) {
      machines_.push_back(Machine::founder(config_, rank_at(id), first));
      said.emplace_back();
      at(id).start({0});
      drain(id);
    }
  }

  Group(const Group&) = delete;  // machines refer to its configuration
  Group& operator=(const Group&) = delete;

  // A process comes, or comes back under its identifier, and asks the contacts.
  void join(int id, const std::vector<Rank>& contacts) {
    while (size() <= id) {
      dead_.insert(size());
      machines_.push_back(machines_.back());
      said.emplace_back();
    }
    std::erase_if(wire_, [id](const auto& message) { return index(message.from) == id; });
    dead_.erase(id);
    said[static_cast<std::size_t>(id)].clear();
    at(id) = Machine::joiner(config_, rank_at(id), contacts);
    at(id).start({0});
    drain(id);
  }
  void kill(int id) {
    dead_.insert(id);
    std::erase_if(wire_, [id](const auto& message) { return index(message.to) == id; });
  }
  void suspect(int id, int suspected, Evidence evidence = Evidence::death) {
    at(id).handle_suspicion({0}, rank_at(suspected), evidence);
    drain(id);
  }
  // As a connection that closes: whoever watches it learns it.
  void suspect_everywhere(int suspected, Evidence evidence = Evidence::death) {
    for (int id = 0; id < size(); ++id)
      if (!dead_.contains(id) && at(id).is_neighbor(rank_at(suspected)))
        suspect(id, suspected, evidence);
  }
  // Delivers up to `count` messages. Who sends to a dead one finds that out.
  void run(int count = 1000000) {
    for (; count > 0 && !wire_.empty(); --count) {
      const Machine::Message message = wire_.front();
      wire_.pop_front();
      at(index(message.to)).handle_message({0}, message);
      drain(index(message.to));
    }
  }
  void wake(int id) {
    const Time time = at(id).poll_timeout().at;
    if (time == never) return;
    at(id).handle_timeout(time);
    drain(id);
  }
  Machine& at(int id) { return machines_[static_cast<std::size_t>(id)]; }
  int size() const { return static_cast<int>(machines_.size()); }
  void cut(std::set<int> side) { side_ = std::move(side); }
  bool is_cut(int a, int b) const { return side_.contains(a) != side_.contains(b); }

  // The epoch of all who live, if they are all in one view, of exactly them; -1.
  int agreed_epoch() {
    Tally living;
    int root = -1;
    for (int id = 0; id < size(); ++id) {
      if (dead_.contains(id)) continue;
      living += Tally::of(rank_at(id));
      if (root < 0) root = id;
    }
    const LocalView view{at(root).view().epoch, living, rank_at(root), size()};
    for (int id = 0; id < size(); ++id)
      if (!dead_.contains(id) && (!at(id).is_member() || at(id).view() != view)) return -1;
    return static_cast<int>(view.epoch);
  }
  std::int32_t exceptions_max() {
    std::int32_t most = 0;
    for (int id = 0; id < size(); ++id)
      if (!dead_.contains(id)) most = std::max(most, at(id).exceptions());
    return most;
  }

  std::vector<std::string> said;                // by each process
  std::vector<int> sent = std::vector<int>(8);  // by kind

 private:
  void drain(int id) {
    static constexpr const char* names[] = {
        "detect:", "decide", "leave:", "enter:", "install", "exclude", "isolate"};
    auto& words = said[static_cast<std::size_t>(id)];
    while (const auto event = at(id).poll_event()) {
      words += (words.empty() ? "" : " ") + std::string(names[static_cast<int>(event->kind)]);
      if (words.back() == ':') words += std::to_string(index(event->about));
    }
    while (const auto message = at(id).poll_send()) {
      ++sent[static_cast<std::size_t>(message->kind)];
      const int to = index(message->to);
      if (is_cut(id, to)) continue;
      if (to >= size() || dead_.contains(to))
        suspect(id, to);
      else
        wire_.push_back(*message);
    }
  }

  const MembershipConfig config_;
  std::vector<Machine> machines_;
  std::deque<Machine::Message> wire_;
  std::set<int> dead_;
  std::set<int> side_;
};

inline int count(const Group& group, LocalKind kind) {
  return group.sent[static_cast<std::size_t>(kind)];
}

}  // namespace resprout::protocols::local_membership_test

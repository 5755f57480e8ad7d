// The two kinds of memberships that a world can be of: whose processes keep whole views, and whose
// processes keep local ones. Of the second kind the world keeps the whole view of each process,
// made of what the process has said of who leaves, and sees that the process's tally is that of
// this view.
//
// Thread rule: values and pure functions.
#pragma once

#include <string>

#include "protocols/local_membership/local_membership.hpp"
#include "protocols/membership/membership.hpp"

namespace resprout::sim {

inline std::string text_of(const protocols::IdSet<1>& ids) {
  std::string text;
  ids.for_each([&](Rank id) { text += " " + std::to_string(index(id)); });
  return text;
}

inline std::string text_of(const protocols::Ballot& ballot) {
  if (!ballot.exists()) return "";
  return ", ballot " + std::to_string(index(ballot.coordinator)) + "." +
         std::to_string(ballot.attempt);
}

struct WholeViews {
  using Machine = protocols::SmallMembership;
  using View = protocols::View<1>;
  using Event = protocols::MembershipEvent;
  static constexpr bool has_joiners = true;

  static Machine founder(const protocols::MembershipConfig& config, Rank self,
                         const protocols::IdSet<1>& members) {
    return Machine::founder(config, self, members);
  }
  static Machine joiner(const protocols::MembershipConfig& config, Rank self,
                        const protocols::IdSet<1>& contacts) {
    return Machine::joiner(config, self, contacts);
  }
  // The view of a process after `event`, given the one before. Whether it has installed one.
  static bool follow(const Machine& machine, const Event& event, View& view) {
    view = machine.view();
    return event.kind == protocols::MembershipEventKind::install;
  }
  static bool is_true(const Machine& machine, const View& view) { return machine.view() == view; }

  // Whether the message says nothing to it, now or later. The order in a channel is kept: what is
  // told to nobody in particular says nothing at any time.
  static bool is_ignored(const Machine& machine, const Machine::Message& message) {
    return machine.standing() == Machine::Standing::excluded ||
           (machine.is_member() && message.kind == protocols::MembershipKind::install &&
            message.view.epoch <= machine.view().epoch);
  }
  static bool is_proposal(const Machine::Message& message) {
    return message.kind == protocols::MembershipKind::propose;
  }
  static std::string describe(const Machine::Message& message) {
    static constexpr const char* kinds[] = {"report",      "acknowledgment", "propose",
                                            "acceptance",  "install",        "join",
                                            "redirection", "probe"};
    std::string text = kinds[static_cast<int>(message.kind)];
    text += " in epoch " + std::to_string(message.view.epoch) + " of" +
            text_of(message.view.members) + text_of(message.ballot);
    if (!message.members.is_empty()) text += ", view" + text_of(message.members);
    if (!message.fenced.is_empty()) text += ", without" + text_of(message.fenced);
    return text;
  }
};

template <std::size_t Room>
struct LocalViews {
  using Machine = protocols::LocalMembership<Room>;
  using Message = protocols::LocalMessage<Room>;
  using View = protocols::View<1>;
  using Event = protocols::LocalEvent;
  static constexpr bool has_joiners = false;

  static Machine founder(const protocols::MembershipConfig& config, Rank self,
                         const protocols::IdSet<1>& members) {
    return Machine::founder(config, self, protocols::LocalView::first(members.count()));
  }
  static bool follow(const Machine& machine, const Event& event, View& view) {
    if (event.kind == protocols::LocalEventKind::leave) view.members.remove(event.about);
    if (event.kind != protocols::LocalEventKind::install) return false;
    if (view.epoch == 0) view.members = protocols::IdSet<1>::first(machine.view().limit);
    view.epoch = machine.view().epoch;
    return true;
  }
  static bool is_true(const Machine& machine, const View& view) {
    protocols::Tally members;
    view.members.for_each([&](Rank id) { members += protocols::Tally::of(id); });
    return machine.view().epoch == view.epoch && machine.view().members == members &&
           machine.view().root == view.root();
  }

  static bool is_ignored(const Machine& machine, const Message& message) {
    using protocols::LocalKind;
    if (machine.is_member())
      return message.kind == LocalKind::install && message.view.epoch <= machine.view().epoch;
    return message.kind == LocalKind::install || message.kind == LocalKind::acceptance ||
           message.kind == LocalKind::stranger;
  }
  static bool is_proposal(const Message& message) {
    return message.kind == protocols::LocalKind::propose ||
           message.kind == protocols::LocalKind::survey;
  }
  static std::string describe(const Message& message) {
    static constexpr const char* kinds[] = {"report",  "survey", "propose", "acceptance",
                                            "install", "probe",  "stranger"};
    std::string text = kinds[static_cast<int>(message.kind)];
    text += " in epoch " + std::to_string(message.view.epoch) + " of " +
            std::to_string(message.view.members.count) + text_of(message.ballot);
    if (message.next.count > 0) text += ", view of " + std::to_string(message.next.count);
    if (message.fenced.size() > 0) text += ", without";
    for (const protocols::Change& change : message.fenced) {
      text += " " + std::to_string(index(change.id));
      if (!change.is(protocols::Change::sure)) text += '?';
      if (change.is(protocols::Change::removed)) text += '-';
    }
    if (message.reach.count > 0) text += ", reach " + std::to_string(message.reach.count);
    return text;
  }
};

}  // namespace resprout::sim

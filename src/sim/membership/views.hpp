// The two kinds of memberships that a world can be of: whose processes keep whole views, and whose
// processes keep local ones. Of the second kind the world keeps the whole view of each process,
// made of what the process has said of who leaves and who enters, and sees that the process's tally
// is that of this view. Who is admitted knows nobody: its first view is looked up by its digest
// among those that others have installed.
//
// Thread rule: values and pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "protocols/local_membership/local_membership.hpp"
#include "protocols/membership/membership.hpp"

namespace resprout::sim {

inline std::string text_of(const protocols::IdSet<1>& ids) {
  std::string text;
  ids.for_each([&](Rank id) { text += " " + std::to_string(index(id)); });
  return text;
}

// The members of views by their digest.
using ViewBook = std::map<std::uint64_t, protocols::IdSet<1>>;

inline std::string text_of(const protocols::Ballot& ballot) {
  if (!ballot.exists()) return "";
  return ", ballot " + std::to_string(index(ballot.coordinator)) + "." +
         std::to_string(ballot.attempt);
}

struct WholeViews {
  using Machine = protocols::SmallMembership;
  using View = protocols::View<1>;
  using Event = protocols::MembershipEvent;
  // Whether drivers have to say that nobody answers under an identifier, and processes may come
  // back under their own.
  static constexpr bool is_local = false;

  static Machine founder(const protocols::MembershipConfig& config, Rank self,
                         const protocols::IdSet<1>& members) {
    return Machine::founder(config, self, members);
  }
  static Machine joiner(const protocols::MembershipConfig& config, Rank self,
                        const protocols::IdSet<1>& contacts) {
    return Machine::joiner(config, self, contacts);
  }
  // The view of a process after `event`, given the one before. Whether it has installed one.
  static bool follow(const Machine& machine, const Event& event, View& view, ViewBook&) {
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
  static bool is_probe(const Machine::Message& message) {
    return message.kind == protocols::MembershipKind::probe;
  }
  // Breaks the rule that proposals say whom nobody shall listen to.
  static void forget_fences(Machine::Message& message) {
    if (message.kind == protocols::MembershipKind::propose) message.fenced = {};
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
  static constexpr bool is_local = true;

  static protocols::Tally tally_of(const protocols::IdSet<1>& ids) {
    protocols::Tally tally;
    ids.for_each([&tally](Rank id) { tally += protocols::Tally::of(id); });
    return tally;
  }
  static Machine founder(const protocols::MembershipConfig& config, Rank self,
                         const protocols::IdSet<1>& members) {
    protocols::LocalView first{1, tally_of(members), members.lowest(), 0};
    members.for_each([&first](Rank id) { first.limit = index(id) + 1; });
    return Machine::founder(config, self, first);
  }
  static Machine joiner(const protocols::MembershipConfig& config, Rank self,
                        const protocols::IdSet<1>& contacts) {
    std::array<Rank, Room / 2> some{};
    std::size_t count = 0;
    contacts.for_each([&](Rank id) {
      if (count < some.size()) some[count++] = id;
    });
    return Machine::joiner(config, self, {some.data(), count});
  }
  static bool follow(const Machine& machine, const Event& event, View& view, ViewBook& book) {
    if (event.kind == protocols::LocalEventKind::leave) view.members.remove(event.about);
    if (event.kind == protocols::LocalEventKind::enter) view.members.add(event.about);
    if (event.kind != protocols::LocalEventKind::install) return false;
    if (view.epoch == 0) {
      const auto known = book.find(machine.view().members.digest);
      view.members = known == book.end() ? protocols::IdSet<1>{} : known->second;
    }
    view.epoch = machine.view().epoch;
    book.emplace(tally_of(view.members).digest, view.members);
    return true;
  }
  static bool is_true(const Machine& machine, const View& view) {
    const protocols::Tally members = tally_of(view.members);
    return machine.view().epoch == view.epoch && machine.view().members == members &&
           machine.view().root == view.root();
  }

  static bool is_ignored(const Machine& machine, const Message& message) {
    using protocols::LocalKind;
    if (machine.is_member())
      return message.kind == LocalKind::install && message.view.epoch <= machine.view().epoch;
    return machine.standing() == Machine::Standing::excluded &&
           (message.kind == LocalKind::install || message.kind == LocalKind::acceptance ||
            message.kind == LocalKind::stranger);
  }
  static bool is_probe(const Message& message) {
    return message.kind == protocols::LocalKind::probe;
  }
  static void forget_fences(Message& message) {
    if (message.kind == protocols::LocalKind::propose ||
        message.kind == protocols::LocalKind::survey)
      message.changes = {};
  }
  static std::string describe(const Message& message) {
    static constexpr const char* kinds[] = {"report",  "survey", "propose",  "acceptance",
                                            "install", "probe",  "stranger", "join"};
    std::string text = kinds[static_cast<int>(message.kind)];
    text += " in epoch " + std::to_string(message.view.epoch) + " of " +
            std::to_string(message.view.members.count) + text_of(message.ballot);
    if (message.next.epoch > 0) text += ", view of " + std::to_string(message.next.members.count);
    if (message.changes.size() > 0) text += ", with";
    for (const protocols::Change& change : message.changes) {
      using protocols::Change;
      text += " " + std::to_string(index(change.id));
      if (change.is(Change::fenced)) text += change.is(Change::sure) ? " fenced" : " fenced?";
      if (change.is(Change::removed)) text += '-';
      if (change.is(Change::joins)) text += " joins";
      if (change.is(Change::added)) text += '+';
      if (change.is(Change::hole)) text += " hole";
    }
    if (message.reach.count > 0) text += ", reach " + std::to_string(message.reach.count);
    return text;
  }
};

}  // namespace resprout::sim

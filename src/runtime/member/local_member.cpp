// See local_member.hpp.
#include "runtime/member/local_member.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "protocols/local_membership/neighborhood.hpp"
#include "runtime/net/clock.hpp"

namespace resprout::runtime::member {
namespace {

// So many it asks for admission, one after the other.
constexpr std::size_t contacts_max = 8;

}  // namespace

LocalMember::LocalMember(const MemberOptions& options) : Service(options) {
  const auto id_of = [this](const Address& address) {
    const auto id = options_.addresses->find(address);
    if (!id) throw std::invalid_argument("order: it does not name " + address.text());
    return *id;
  };
  self_ = place_ = id_of(own_.address);
  for (const Address& seed : options_.join)
    if (const std::int32_t id = id_of(seed); id != self_) seeds_.push_back(id);
  if (!options_.join.empty() && seeds_.empty())
    throw std::invalid_argument("join: that is where it listens itself");
  known_group_->restrict_to(
      [this](const Address& kept) { return options_.addresses->find(kept).has_value(); });
  if (seeds_.empty() && known_group_->others().empty()) {
    found();
    return;
  }
  if (seeds_.empty()) known_group_->start_asking(monotonic_ns() + options_.timeout_ns);
  become_joining();
}

void LocalMember::found() {
  known_group_->stop_asking();
  const Rank self = rank_at(self_);
  machine_ = LocalMachine::founder(config_, self, {1, protocols::Tally::of(self), self, self_ + 1});
  machine_->start({monotonic_ns()});
  drain();
}

Frame LocalMember::hello_to(const Connection& connection) const {
  Frame hello = frame_of(FrameKind::local_hello);
  hello.id = self_;
  hello.incarnation = own_.incarnation;
  hello.meant = connection.peer.incarnation;
  return hello;
}

void LocalMember::handle(std::uint64_t key, const Frame& frame) {
  Connection& connection = *connections_.at(key);
  if (connection.link.is_own()) return;  // nobody answers on it
  if (frame.kind == FrameKind::local_hello) {
    handle_hello(key, frame);
    return;
  }
  // Somebody who has not said hello, or in whose place there is somebody else by now.
  const auto peer = peers_.find(connection.id);
  if (peer == peers_.end() || peer->second.incarnation != connection.peer.incarnation) return;
  if (const auto silence = silences_.find(connection.id); silence != silences_.end())
    silence->second.handle_sound({monotonic_ns()});
  const LocalMachine::Message& message = frame.local;
  if (frame.kind != FrameKind::local_message || index(message.from) != connection.id) return;
  machine_->handle_message({monotonic_ns()}, message);
  drain();
}

void LocalMember::handle_hello(std::uint64_t key, const Frame& frame) {
  Connection& connection = *connections_.at(key);
  connection.id = frame.id;
  connection.peer.incarnation = frame.incarnation;
  if (frame.id == self_ || (frame.meant != 0 && frame.meant != own_.incarnation)) {
    connection.link.close();
    return;
  }
  Peer& peer = peers_[frame.id];
  if (peer.incarnation == frame.incarnation) return;
  const bool is_successor = peer.incarnation != 0 && !peer.may_be_new;
  peer.incarnation = frame.incarnation;
  peer.may_be_new = false;
  // What was on its way to the one before is not for this one.
  for (const auto& [address, own] : own_connections_) {
    if (connections_.at(own)->id != frame.id || connections_.at(own)->peer.incarnation == 0 ||
        connections_.at(own)->peer.incarnation == frame.incarnation)
      continue;
    forget(own);
    own_connections_.erase(address);
    break;
  }
  if (is_successor) suspect(frame.id, protocols::Evidence::death);
}

void LocalMember::handle_end(const Connection& connection) {
  if (connection.link.state() == Link::State::refused)
    known_group_->note_refused(connection.peer.address, monotonic_ns());
  const auto peer = peers_.find(connection.id);
  const std::uint64_t since = peer == peers_.end() ? 0 : peer->second.since;
  // It has been admitted since: whoever was before is of no interest.
  if (since != connection.since) return;
  if (is_proof(connection))
    suspect(connection.id, protocols::Evidence::death);
  else if (connection.is_second_try)
    suspect(connection.id, protocols::Evidence::silence);
  else
    connect(connection.peer, true, connection.id, connection.since);
}

void LocalMember::suspect(std::int32_t id, protocols::Evidence evidence) {
  machine_->handle_suspicion({monotonic_ns()}, rank_at(id), evidence);
  drain();
}

void LocalMember::send(std::int32_t id, const Frame& frame) {
  const auto own = std::ranges::find_if(
      own_connections_, [&](const auto& entry) { return connections_.at(entry.second)->id == id; });
  if (own != own_connections_.end()) {
    say(own->second, frame);
    return;
  }
  const auto address = options_.addresses->of(id);
  if (!address) return;
  const Peer& peer = peers_[id];
  connect({*address, peer.may_be_new ? 0 : peer.incarnation}, false, id, peer.since);
  say(own_connections_.at(*address), frame);
}

void LocalMember::drain() {
  while (const auto event = machine_->poll_event()) follow(*event);
  while (const auto message = machine_->poll_send()) {
    Frame frame = frame_of(FrameKind::local_message);
    frame.local = *message;
    send(index(message->to), frame);
  }
  if (machine_->standing() == LocalMachine::Standing::excluded) become_joining();
  watch_neighbors();
}

void LocalMember::follow(const protocols::LocalEvent& event) {
  using protocols::LocalEventKind;
  switch (event.kind) {
    case LocalEventKind::detect:
      note(MemberEvent::Kind::suspected, index(event.about));
      break;
    case LocalEventKind::decide:
      note(MemberEvent::Kind::decided);
      break;
    case LocalEventKind::leave:
      left_.push_back(index(event.about));
      break;
    case LocalEventKind::enter: {
      entered_.push_back(index(event.about));
      Peer& peer = peers_[index(event.about)];
      peer.since = ++admissions_;
      peer.may_be_new = true;
      break;
    }
    case LocalEventKind::install:
      known_group_->stop_asking();
      watch_neighbors();
      note(MemberEvent::Kind::view);
      keep_neighbors();
      entered_.clear();
      left_.clear();
      break;
    case LocalEventKind::exclude:
      note(MemberEvent::Kind::excluded);
      break;
    case LocalEventKind::isolate:
      note(MemberEvent::Kind::isolated);
      break;
  }
}

void LocalMember::describe(MemberEvent& event) const {
  event.self = self_;
  event.local.emplace();
  if (!machine_) return;
  const protocols::LocalView& view = machine_->view();
  event.epoch = view.epoch;
  event.local->members = view.members;
  event.local->root = index(view.root);
  if (event.kind != MemberEvent::Kind::view) return;
  for (const auto& [id, silence] : silences_) event.local->neighbors.push_back(id);
  event.local->entered = entered_;
  event.local->left = left_;
}

std::map<std::int32_t, Service::Known> LocalMember::known() const {
  std::map<std::int32_t, Known> known = {{self_, {own_.address, {}}}};
  for (const auto& [id, silence] : silences_)
    if (const auto address = options_.addresses->of(id)) known[id] = {*address, {}};
  return known;
}

void LocalMember::keep_neighbors() {
  std::vector<Address> others;
  for (const auto& [id, silence] : silences_)
    if (const auto address = options_.addresses->of(id)) others.push_back(*address);
  known_group_->keep(std::move(others));
}

// Under a new incarnation: who takes it for a member is told otherwise.
void LocalMember::become_joining() {
  std::vector<Rank> contacts;
  const auto add = [&](std::int32_t id) {
    const bool is_known = std::ranges::find(contacts, rank_at(id)) != contacts.end();
    if (id >= 0 && id != self_ && !is_known && contacts.size() < contacts_max)
      contacts.push_back(rank_at(id));
  };
  for (const std::int32_t seed : seeds_) add(seed);
  if (!machine_)
    for (const Address& kept : known_group_->others()) add(*options_.addresses->find(kept));
  if (machine_) {
    add(index(machine_->view().root));
    for (const auto& [id, silence] : silences_) add(id);
    for (const auto& [id, peer] : peers_) add(id);
    own_.incarnation = static_cast<std::uint64_t>(realtime_ns());
    silences_.clear();
    entered_.clear();
    left_.clear();
    for (const auto& [address, key] : own_connections_) say(key, hello_to(*connections_.at(key)));
  }
  // Whoever knows nobody asks somebody.
  if (contacts.empty()) add(self_ == 0 ? 1 : 0);
  machine_ = LocalMachine::joiner(config_, rank_at(self_), contacts);
  note(MemberEvent::Kind::joining);
  machine_->start({monotonic_ns()});
  drain();
}

void LocalMember::watch_neighbors() {
  std::set<std::int32_t> neighbors;
  machine_->for_each_neighbor([&](Rank id) { neighbors.insert(index(id)); });
  std::erase_if(silences_, [&](const auto& silence) { return !neighbors.contains(silence.first); });
  for (const std::int32_t id : neighbors) {
    const auto [place, is_new] = silences_.try_emplace(id);
    if (is_new) place->second.start({monotonic_ns()});
  }
}

void LocalMember::say_heartbeat(std::int32_t id) { send(id, frame_of(FrameKind::heartbeat)); }

void LocalMember::handle_silence(std::int64_t, std::int32_t id) {
  suspect(id, protocols::Evidence::silence);
}

std::int64_t LocalMember::next_deadline() const {
  return std::min(machine_->poll_timeout().at.ticks, known_group_->ask_until_ns());
}

void LocalMember::handle_deadline(std::int64_t now) {
  if (known_group_->is_given_up(now)) {
    note(MemberEvent::Kind::founding);
    found();
  }
  if (machine_->poll_timeout().at.ticks <= now) {
    machine_->handle_timeout({now});
    drain();
  }
  if (now >= beat_at_) drop_unused(now);
}

// Connections to who is no neighbor any more, and what is known of who has none.
void LocalMember::drop_unused(std::int64_t now) {
  std::vector<Address> unused;
  for (const auto& [address, key] : own_connections_) {
    const Connection& own = *connections_.at(key);
    if (!silences_.contains(own.id) && own.give_up_at < 0 && !own.is_second_try &&
        now - own.used_at > options_.timeout_ns)
      unused.push_back(address);
  }
  for (const Address& address : unused) {
    forget(own_connections_.at(address));
    own_connections_.erase(address);
  }
  std::set<std::int32_t> connected;
  for (const auto& [key, connection] : connections_) connected.insert(connection->id);
  std::erase_if(peers_, [&](const auto& peer) {
    return !silences_.contains(peer.first) && !connected.contains(peer.first);
  });
}

}  // namespace resprout::runtime::member

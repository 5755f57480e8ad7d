// See member.hpp.
#include "runtime/member/member.hpp"

#include <algorithm>
#include <array>

#include "runtime/member/places.hpp"
#include "runtime/net/clock.hpp"
#include "runtime/net/socket.hpp"

namespace resprout::runtime::member {
namespace {

constexpr std::uint64_t listener_key = 0;
// So many may be about to prove that they know the secret; far more than join at once.
constexpr std::ptrdiff_t strangers_max = 256;

Frame frame_of(FrameKind kind) {
  Frame frame;
  frame.kind = kind;
  return frame;
}

}  // namespace

Member::Member(const MemberOptions& options)
    : options_(options),
      config_{{options.radix}, options.period_ns},
      listener_(listen_on(options.listen.host, options.listen.port)) {
  own_.address = {options.listen.host, local_port(listener_)};
  own_.incarnation = static_cast<std::uint64_t>(realtime_ns());
  poller_.add(listener_, listener_key, EPOLLIN);
  beat_at_ = monotonic_ns();
  find_place();
  if (options.join) {
    contacts_.push_back(*options.join);
    become_joining();
    return;
  }
  const std::int32_t id = first_id();
  book_[id] = own_;
  machine_ = Machine::founder(config_, rank_at(id), Ids::only(rank_at(id)));
  machine_->start({monotonic_ns()});
  drain();
}

std::optional<MemberEvent> Member::run(int timeout_ms) {
  const std::int64_t end = monotonic_ns() + std::int64_t{timeout_ms} * 1'000'000;
  for (;;) {
    if (!events_.empty()) {
      MemberEvent event = std::move(events_.front());
      events_.pop_front();
      return event;
    }
    const std::int64_t left = end - monotonic_ns();
    if (left < 0) return std::nullopt;
    serve(static_cast<int>(left / 1'000'000 + 1));
  }
}

void Member::serve(int timeout_ms) {
  std::int64_t wake = std::min(beat_at_, machine_ ? machine_->poll_timeout().at.ticks : ask_at_);
  for (const auto& [key, connection] : connections_)
    if (connection->give_up_at >= 0) wake = std::min(wake, connection->give_up_at);
  const std::int64_t wait = std::max<std::int64_t>(wake - monotonic_ns(), 0) / 1'000'000 + 1;
  std::array<epoll_event, 64> ready;
  for (const epoll_event& event :
       poller_.wait(ready, static_cast<int>(std::min<std::int64_t>(wait, timeout_ms)))) {
    if (event.data.u64 == listener_key)
      accept_all();
    else
      advance(event.data.u64);
  }
  handle_time(monotonic_ns());
}

void Member::accept_all() {
  for (;;) {
    Fd socket = accept_on(listener_);
    if (!socket.is_open()) return;
    const std::uint64_t key = next_key_++;
    auto connection = std::make_unique<Connection>(
        Connection{Link::accept(std::move(socket), options_.secret), {}});
    connection->give_up_at = monotonic_ns() + options_.timeout_ns;
    poller_.add(connection->link.socket(), key, EPOLLIN);
    connections_[key] = std::move(connection);
    drop_oldest_stranger();
  }
}

// Who connects and says nothing must not use up the descriptors that members need.
void Member::drop_oldest_stranger() {
  const auto is_stranger = [](const auto& entry) {
    return !entry.second->link.is_own() && !entry.second->link.has_opened();
  };
  if (std::ssize(connections_) <= strangers_max) return;
  if (std::ranges::count_if(connections_, is_stranger) <= strangers_max) return;
  // Keys are in the order of age.
  forget(std::ranges::find_if(connections_, is_stranger)->first);
}

void Member::advance(std::uint64_t key) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  Connection& connection = *found->second;
  std::vector<Frame> frames;
  connection.link.advance(frames);
  if (connection.link.has_opened() && !connection.is_second_try) connection.give_up_at = -1;
  // What was said before the end counts.
  for (const Frame& frame : frames) handle(key, frame);
  if (!connection.link.is_over()) {
    poller_.modify(connection.link.socket(), key, connection.link.events());
    return;
  }
  const std::unique_ptr<Connection> ended = forget(key);
  if (!ended->link.is_own()) return;
  own_connections_.erase(ended->peer.address);
  handle_end(*ended);
}

// Closes it, whatever its state is; its traffic stays counted.
std::unique_ptr<Member::Connection> Member::forget(std::uint64_t key) {
  std::unique_ptr<Connection> connection = std::move(connections_.at(key));
  connections_.erase(key);
  maybe_say_rejected(*connection);
  poller_.remove_and_close(connection->link.socket());
  ended_.sent += connection->link.sent();
  ended_.received += connection->link.received();
  const Link& link = connection->link;
  if (!link.is_own() && (!link.has_opened() || link.is_malformed())) ++ended_.rejected;
  return connection;
}

// What whoever runs this member can mend. Once for each reason and version, whatever a stranger
// says and how often; all else is counted only.
void Member::maybe_say_rejected(Connection& connection) {
  Link& link = connection.link;
  const bool is_worth_it = link.failure() == auth::Failure::other_version ||
                           (link.failure() == auth::Failure::other_secret && link.is_own());
  if (!is_worth_it) return;
  const bool has_version = link.failure() == auth::Failure::other_version;
  const int version = has_version ? link.peer_version() : -1;
  if (!said_rejected_.emplace(link.failure(), version).second) return;
  note(MemberEvent::Kind::rejected);
  events_.back().failure = link.failure();
  events_.back().peer_version = version;
  events_.back().peer = link.is_own() ? connection.peer.address.text() : peer_of(link.socket());
}

Statistics Member::statistics() const {
  Statistics sum = ended_;
  sum.connections = connections_.size();
  for (const auto& [key, connection] : connections_) {
    sum.sent += connection->link.sent();
    sum.received += connection->link.received();
  }
  return sum;
}

void Member::handle_end(const Connection& connection) {
  const Link::State how = connection.link.state();
  if (!machine_ && !contacts_.empty() && contacts_.front() == connection.peer.address)
    ask_at_ = std::min(ask_at_, monotonic_ns() + options_.period_ns / 4);
  if (!id_of(connection.peer)) return;
  // Refused, or open to somebody who is not the one that was meant and went away at that.
  const bool is_gone =
      how == Link::State::refused ||
      (connection.is_second_try && connection.link.has_opened() && !connection.is_given_up);
  if (is_gone)
    suspect(connection.peer, protocols::Evidence::death);
  else if (connection.is_second_try)
    suspect(connection.peer, protocols::Evidence::silence);
  else
    connect(connection.peer, true);
}

std::optional<std::int32_t> Member::id_of(const Place& place) const {
  for (const auto& [id, known] : book_)
    if (known.address == place.address && known.incarnation == place.incarnation) return id;
  return std::nullopt;
}

void Member::suspect(const Place& place, protocols::Evidence evidence) {
  const auto id = id_of(place);
  if (!machine_ || !id) return;
  machine_->handle_suspicion({monotonic_ns()}, rank_at(*id), evidence);
  drain();
}

void Member::connect(const Place& place, bool is_second_try) {
  const std::uint64_t key = next_key_++;
  auto connection = std::make_unique<Connection>(
      Connection{Link::connect(place.address, options_.secret), place});
  connection->is_second_try = is_second_try;
  connection->give_up_at = monotonic_ns() + health_.stretch(options_.timeout_ns);
  Frame hello = frame_of(FrameKind::hello);
  hello.incarnation = own_.incarnation;
  hello.meant = place.incarnation;
  hello.address = own_.address;
  connection->link.say(hello);
  if (connection->link.is_over()) {
    // The end is seen when the caller is done.
    connection->give_up_at = 0;
  } else {
    poller_.add(connection->link.socket(), key, connection->link.events());
  }
  own_connections_[place.address] = key;
  connections_[key] = std::move(connection);
}

// The key of the connection on which this process speaks to it.
std::uint64_t Member::connection_to(const Place& place) {
  if (!own_connections_.contains(place.address)) connect(place, false);
  const std::uint64_t key = own_connections_.at(place.address);
  Connection& connection = *connections_.at(key);
  // One that joined again from the same address: it has forgotten what it was told.
  if (place.incarnation != 0 && place.incarnation != connection.peer.incarnation) {
    connection.peer.incarnation = place.incarnation;
    connection.has_told_book = false;
  }
  return key;
}

void Member::say(std::uint64_t key, const Frame& frame) {
  Connection& connection = *connections_.at(key);
  connection.link.say(frame);
  if (connection.link.is_over())
    connection.give_up_at = 0;
  else
    poller_.modify(connection.link.socket(), key, connection.link.events());
}

void Member::handle(std::uint64_t key, const Frame& frame) {
  Connection& connection = *connections_.at(key);
  if (connection.link.is_own()) return;  // nobody answers on it
  if (frame.kind == FrameKind::hello) {
    connection.peer = {frame.address, frame.incarnation};
    if (frame.meant != 0 && frame.meant != own_.incarnation) connection.link.close();
    return;
  }
  if (const auto id = id_of(connection.peer))
    if (const auto silence = silences_.find(*id); silence != silences_.end())
      silence->second.handle_sound({monotonic_ns()});
  switch (frame.kind) {
    case FrameKind::join:
      handle_join(frame);
      return;
    case FrameKind::redirect:
      if (!machine_) {
        std::erase(contacts_, frame.address);
        contacts_.push_front(frame.address);
        ask_for_admission();
      }
      return;
    case FrameKind::message:
      handle_message(frame);
      return;
    default:
      return;
  }
}

void Member::find_place() {
  if (!options_.order) return;
  const std::vector<std::int32_t> places = options_.order->places(config_.tree);
  for (const std::int32_t place : places) reserved_.add(rank_at(place));
  if (const auto own = options_.order->find(own_.address, options_.host_name))
    place_ = places[*own];
}

// Of the first member.
std::int32_t Member::first_id() const {
  if (place_ >= 0) return place_;
  return new_place({}, config_.tree, -1, own_.address, reserved_).value_or(0);
}

// Whether a joiner can have the identifier that it wants: nobody has had it, or somebody on its own
// host who is gone.
bool Member::is_for(const Frame& join, std::int32_t id) const {
  if (!Ids::is_id(rank_at(id))) return false;
  const auto had = book_.find(id);
  if (had == book_.end()) return true;
  return is_same_host(had->second.address, join.address) &&
         !machine_->view().members.contains(rank_at(id)) && !machine_->is_joiner(rank_at(id));
}

// The identifier that a joiner had, or the one that it wants, or a new one.
std::int32_t Member::id_for(const Frame& join) const {
  for (const auto& [id, place] : book_)
    if (place.address == join.address) return id;
  if (is_for(join, join.id)) return join.id;
  const std::int32_t root = index(machine_->view().root());
  if (const auto place = new_place(book_, config_.tree, root, join.address, reserved_))
    return *place;
  std::int32_t lowest = 0;
  while (Ids::is_id(rank_at(lowest)) && machine_->view().members.contains(rank_at(lowest)))
    ++lowest;
  return lowest;
}

void Member::handle_join(const Frame& frame) {
  if (!machine_ || !machine_->is_member()) return;
  const Rank coordinator = machine_->coordinator();
  const Place joiner{frame.address, frame.incarnation};
  if (coordinator != machine_->self()) {
    Frame redirect = frame_of(FrameKind::redirect);
    redirect.address = book_.at(index(coordinator)).address;
    send({joiner.address, 0}, redirect);
    return;
  }
  // Only the root of the view gives identifiers; who has just taken over is asked again soon.
  if (machine_->self() != machine_->view().root()) return;
  const std::int32_t id = id_for(frame);
  if (!Ids::is_id(rank_at(id)) || rank_at(id) == machine_->self()) return;
  const Time now{monotonic_ns()};
  if (book_.contains(id) && book_[id].incarnation != joiner.incarnation) {
    machine_->handle_suspicion(now, rank_at(id), protocols::Evidence::death);
    // What was on its way to the one before is not for this one.
    if (const auto old = own_connections_.find(joiner.address); old != own_connections_.end()) {
      forget(old->second);
      own_connections_.erase(old);
    }
  }
  book_[id] = joiner;
  Machine::Message join;
  join.from = rank_at(id);
  join.to = machine_->self();
  join.kind = protocols::MembershipKind::join;
  machine_->handle_message(now, join);
  drain();
}

// Where those are whom a message speaks of. Of a member of the own view it is known already; of who
// is no member any more the sender may have old news.
void Member::learn(const Frame& frame) {
  const bool is_newer = !machine_ || frame.message.view.epoch > machine_->view().epoch;
  const Ids spoken_of = frame.message.view.members | frame.message.members;
  for (const auto& [id, place] : frame.places) {
    if (!spoken_of.contains(rank_at(id)))
      book_.try_emplace(id, place);
    else if (is_newer || !machine_->view().members.contains(rank_at(id)))
      book_[id] = place;
  }
}

void Member::handle_message(const Frame& frame) {
  if (frame.meant != own_.incarnation) return;
  const Machine::Message& message = frame.message;
  const Time now{monotonic_ns()};
  if (!machine_) {
    if (!message.view.members.contains(message.to)) return;
    book_.clear();
    learn(frame);
    old_id_ = index(message.to);
    machine_ = Machine::joiner(config_, message.to, Ids::only(message.from));
    machine_->start(now);
    machine_->handle_message(now, message);
    while (!machine_->is_member() && machine_->poll_send()) continue;
  } else if (message.from != message.to) {
    learn(frame);
    machine_->handle_message(now, message);
  }
  drain();
}

void Member::send_message(const Machine::Message& message) {
  const auto place = book_.find(index(message.to));
  if (place == book_.end()) return;
  Frame frame = frame_of(FrameKind::message);
  frame.message = message;
  frame.meant = place->second.incarnation;
  const std::uint64_t key = connection_to(place->second);
  Connection& connection = *connections_.at(key);
  if (connection.has_told_book) {
    (message.view.members | message.members).for_each([&](Rank id) {
      if (const auto known = book_.find(index(id)); known != book_.end())
        frame.places.insert(*known);
    });
  } else {
    // Also of those who are gone: whoever is root keeps their identifiers for them (section 3.7).
    frame.places = book_;
    connection.has_told_book = true;
  }
  say(key, frame);
}

void Member::note(MemberEvent::Kind kind, std::int32_t about) {
  MemberEvent event;
  event.kind = kind;
  event.time_ns = realtime_ns();
  event.about = about;
  event.self = old_id_;
  if (machine_) {
    event.self = index(machine_->self());
    event.epoch = machine_->view().epoch;
    machine_->view().members.for_each([&](Rank id) { event.members.push_back(index(id)); });
  }
  events_.push_back(std::move(event));
}

void Member::drain() {
  using protocols::MembershipEventKind;
  while (const auto event = machine_->poll_event()) {
    switch (event->kind) {
      case MembershipEventKind::detect:
        note(MemberEvent::Kind::suspected, index(event->about));
        break;
      case MembershipEventKind::decide:
        note(MemberEvent::Kind::decided);
        break;
      case MembershipEventKind::install:
        note(MemberEvent::Kind::view);
        break;
      case MembershipEventKind::exclude:
        note(MemberEvent::Kind::excluded);
        break;
      case MembershipEventKind::isolate:
        note(MemberEvent::Kind::isolated);
        break;
    }
  }
  while (const auto message = machine_->poll_send()) send_message(*message);
  watch_neighbors(monotonic_ns());
  if (machine_->standing() == Machine::Standing::excluded) become_joining();
}

// Under a new incarnation: what is on its way to the one before is not for this one.
void Member::become_joining() {
  if (machine_) {
    old_id_ = index(machine_->self());
    const Ids members = machine_->view().members;
    machine_.reset();
    silences_.clear();
    own_.incarnation = static_cast<std::uint64_t>(realtime_ns());
    contacts_.clear();
    for (const auto& [id, place] : book_) {
      if (place.address == own_.address) continue;
      // Those who are gone may be back, but are asked last.
      if (members.contains(rank_at(id)))
        contacts_.push_front(place.address);
      else
        contacts_.push_back(place.address);
    }
    if (contacts_.empty() && options_.join) contacts_.push_back(*options_.join);
  }
  note(MemberEvent::Kind::joining);
  ask_for_admission();
}

void Member::ask_for_admission() {
  ask_at_ = monotonic_ns() + options_.period_ns;
  if (contacts_.empty()) return;
  Frame join = frame_of(FrameKind::join);
  join.id = old_id_ >= 0 ? old_id_ : place_;
  join.incarnation = own_.incarnation;
  join.address = own_.address;
  send({contacts_.front(), 0}, join);
}

void Member::watch_neighbors(std::int64_t now) {
  const Ids neighbors = machine_->neighbors();
  std::erase_if(silences_, [&](const auto& s) { return !neighbors.contains(rank_at(s.first)); });
  neighbors.for_each([&](Rank id) {
    const auto [place, is_new] = silences_.try_emplace(index(id));
    if (is_new) place->second.start({now});
  });
}

void Member::beat(std::int64_t now) {
  beat_at_ = now + options_.period_ns;
  std::vector<std::int32_t> silent;
  for (const auto& [id, silence] : silences_) {
    if (const auto place = book_.find(id); place != book_.end())
      send(place->second, frame_of(FrameKind::heartbeat));
    if (silence.length({now}) >= health_.stretch(options_.timeout_ns)) silent.push_back(id);
  }
  for (const std::int32_t id : silent)
    if (machine_)
      machine_->handle_suspicion({now}, rank_at(id), protocols::Evidence::silence), drain();
}

// Before anything is given up: in the time that this process was kept from running nobody could be
// heard, nor could a connection open.
void Member::note_health(std::int64_t now) {
  if (now < beat_at_) return;
  const std::int64_t starved = protocols::starved_for(now - beat_at_, options_.period_ns);
  health_.handle_deadline(starved != 0);
  if (starved == 0) return;
  for (auto& [id, silence] : silences_) silence.forgive({now}, starved);
  for (auto& [key, connection] : connections_)
    if (connection->give_up_at > 0) connection->give_up_at += starved;
}

void Member::handle_time(std::int64_t now) {
  note_health(now);
  std::vector<std::uint64_t> late;
  for (const auto& [key, connection] : connections_)
    if (connection->give_up_at >= 0 && connection->give_up_at <= now) late.push_back(key);
  for (const std::uint64_t key : late) {
    const auto found = connections_.find(key);
    if (found == connections_.end()) continue;
    if (!found->second->link.is_over()) {
      found->second->is_given_up = true;
      found->second->link.close();
    }
    advance(key);
  }
  if (!machine_ && now >= ask_at_) {
    // The next one; a scan of all who are known.
    std::rotate(contacts_.begin(), contacts_.begin() + (contacts_.empty() ? 0 : 1),
                contacts_.end());
    ask_for_admission();
  }
  if (machine_ && machine_->poll_timeout().at.ticks <= now) {
    machine_->handle_timeout({now});
    drain();
  }
  if (now >= beat_at_) beat(now);
}

}  // namespace resprout::runtime::member

// See member.hpp.
#include "runtime/member/member.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/member/places.hpp"
#include "runtime/net/clock.hpp"

namespace resprout::runtime::member {
namespace {

// So much may wait for one receiver, below what ends a connection; and for views that are to come.
constexpr std::size_t backlog_bytes_max = std::size_t{8} << 20;
constexpr std::size_t early_bytes_max = std::size_t{16} << 20;
// Of each of them, besides what was said.
constexpr std::size_t early_bytes_each = 64;

}  // namespace

Member::Member(const MemberOptions& options) : Service(options) {
  find_place();
  note_tags(own_, options.tags);
  add_seeds();
  if (!options.join.empty() && contacts_.empty())
    throw std::invalid_argument("join: that is where it listens itself");
  if (!contacts_.empty()) {
    become_joining();
    return;
  }
  contacts_.assign(known_group_->others().begin(), known_group_->others().end());
  if (contacts_.empty()) {
    found();
    return;
  }
  known_group_->start_asking(monotonic_ns() + options_.timeout_ns);
  become_joining();
}

// Behind those whom it asks already. A list may name all members, this one among them.
void Member::add_seeds() {
  for (const Address& seed : options_.join)
    if (seed != own_.address && std::ranges::find(contacts_, seed) == contacts_.end())
      contacts_.push_back(seed);
}

void Member::found() {
  known_group_->stop_asking();
  contacts_.clear();
  book_.clear();
  const std::int32_t id = first_id();
  book_[id] = own_;
  machine_ = Machine::founder(config_, rank_at(id), Ids::only(rank_at(id)));
  machine_->start({monotonic_ns()});
  drain();
}

void Member::handle_end(const Connection& connection) {
  if (connection.link.state() == Link::State::refused)
    known_group_->note_refused(connection.peer.address, monotonic_ns());
  if (!machine_ && !contacts_.empty() && contacts_.front() == connection.peer.address)
    ask_at_ = std::min(ask_at_, monotonic_ns() + options_.period_ns / 4);
  if (!id_of(connection.peer)) return;
  if (is_proof(connection))
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

Frame Member::hello_to(const Connection& connection) const {
  Frame hello = frame_of(FrameKind::hello);
  hello.incarnation = own_.incarnation;
  hello.meant = connection.peer.incarnation;
  hello.address = own_.address;
  return hello;
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
    connection.told_tags.clear();
  }
  return key;
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
    case FrameKind::said:
      handle_said(connection, frame);
      return;
    case FrameKind::tags:
      note_tags({frame.address, frame.incarnation}, *parse_tags(frame.tags));
      return;
    case FrameKind::leave:
      note(MemberEvent::Kind::removed, id_of(connection.peer).value_or(-1));
      retire();
      return;
    default:
      return;
  }
}

void Member::find_place() {
  if (!options_.order) return;
  const std::vector<std::int32_t> places = places_of(*options_.order, config_.tree);
  reserved_ = {};
  for (const std::int32_t place : places) reserved_.add(rank_at(place));
  if (const auto own =
          options_.order->find(own_.address.host, own_.address.port, options_.host_name))
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
    config_.tree = topology::RadixTree{frame.radix};
    find_place();
    old_id_ = index(message.to);
    known_group_->stop_asking();
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

std::map<std::int32_t, Service::Known> Member::known() const {
  std::map<std::int32_t, Known> known;
  if (!machine_ || !machine_->is_member()) return known;
  for (const auto& [id, place] : book_) {
    if (!machine_->view().members.contains(rank_at(id))) continue;
    const Tags* const tags = tags_of(place);
    known[id] = {place.address, tags == nullptr ? Tags{} : *tags};
  }
  return known;
}

Service::Refusal Member::remove(std::int32_t id) {
  if (is_retired() || !machine_ || !machine_->is_member()) return Refusal::no_member;
  const Ids& members = machine_->view().members;
  const auto place = book_.find(id);
  if (place == book_.end() || rank_at(id) == machine_->self() || !members.contains(rank_at(id)))
    return Refusal::nobody;
  send(place->second, frame_of(FrameKind::leave));
  const Ids remaining = members - machine_->fenced() - Ids::only(rank_at(id));
  if (protocols::is_quorum(members, Ids{}, remaining))
    suspect(place->second, protocols::Evidence::silence);
  return Refusal::none;
}

// Older news of the same address counts for nothing.
void Member::note_tags(const Place& place, Tags tags) {
  TagsOf& of = tags_[place.address];
  if (place.incarnation >= of.incarnation) of = {place.incarnation, std::move(tags)};
}

const Tags* Member::tags_of(const Place& place) const {
  const auto of = tags_.find(place.address);
  const bool is_known = of != tags_.end() && of->second.incarnation == place.incarnation;
  return is_known && !of->second.tags.empty() ? &of->second.tags : nullptr;
}

// Unless they are known there.
void Member::tell_tags(std::uint64_t key, const Place& place) {
  const Tags* const tags = tags_of(place);
  if (tags == nullptr) return;
  std::uint64_t& told = connections_.at(key)->told_tags[place.address];
  if (told == place.incarnation) return;
  told = place.incarnation;
  Frame frame = frame_of(FrameKind::tags);
  frame.incarnation = place.incarnation;
  frame.address = place.address;
  frame.tags = text_of(*tags);
  say(key, frame);
}

Service::Said Member::say_to(std::int32_t to, std::span<const std::uint8_t> bytes) {
  if (bytes.size() > said_bytes_max) return {Refusal::too_long};
  if (is_retired() || !machine_ || !machine_->is_member()) return {Refusal::no_member};
  Ids receivers = machine_->view().members - machine_->fenced();
  receivers.remove(machine_->self());
  if (to != everybody) {
    if (!Ids::is_id(rank_at(to)) || !receivers.contains(rank_at(to))) return {Refusal::nobody};
    receivers = Ids::only(rank_at(to));
  }
  std::vector<Place> places;
  bool is_room = true;
  receivers.for_each([&](Rank id) {
    const auto place = book_.find(index(id));
    if (place == book_.end()) return;
    is_room = is_room && unsent_bytes(place->second.address) < backlog_bytes_max;
    places.push_back(place->second);
  });
  if (!is_room) return {Refusal::too_much};
  Frame frame = frame_of(FrameKind::said);
  frame.epoch = machine_->view().epoch;
  frame.data.assign(bytes.begin(), bytes.end());
  for (const Place& place : places) {
    frame.meant = place.incarnation;
    send(place, frame);
  }
  return {Refusal::none, frame.epoch};
}

// Whoever is in a later view gets nothing of an earlier one. What is said in a view that is still
// to come waits for it: the sender may have installed it first.
void Member::handle_said(const Connection& connection, const Frame& frame) {
  if (frame.meant != own_.incarnation) return;
  const auto from = id_of(connection.peer);
  if (machine_ && from && machine_->may_receive(rank_at(*from), frame.epoch)) {
    note_message(*from, frame.data);
  } else if (!machine_ || frame.epoch > machine_->view().epoch) {
    const std::size_t bytes = frame.data.size() + early_bytes_each;
    if (early_bytes_ + bytes > early_bytes_max) return;
    early_bytes_ += bytes;
    early_.push_back({connection.peer, frame.epoch, frame.data});
  }
}

// What was said in the view that has just been installed; what was said before it never comes.
void Member::receive_early() {
  std::deque<Early> later;
  early_bytes_ = 0;
  for (Early& early : early_) {
    const auto from = id_of(early.from);
    if (early.epoch > machine_->view().epoch) {
      early_bytes_ += early.data.size() + early_bytes_each;
      later.push_back(std::move(early));
    } else if (from && machine_->may_receive(rank_at(*from), early.epoch)) {
      note_message(*from, std::move(early.data));
    }
  }
  early_ = std::move(later);
}

void Member::send_message(const Machine::Message& message) {
  const auto place = book_.find(index(message.to));
  if (place == book_.end()) return;
  Frame frame = frame_of(FrameKind::message);
  frame.message = message;
  frame.meant = place->second.incarnation;
  frame.radix = config_.tree.radix;
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
  for (const auto& [id, known] : frame.places) tell_tags(key, known);
  say(key, frame);
}

void Member::describe(MemberEvent& event) const {
  event.self = old_id_;
  if (!machine_) return;
  event.self = index(machine_->self());
  event.epoch = machine_->view().epoch;
  machine_->view().members.for_each([&](Rank id) { event.members.push_back(index(id)); });
  if (event.kind != MemberEvent::Kind::view) return;
  for (const auto& [id, place] : book_)
    if (const Tags* const tags = tags_of(place);
        tags != nullptr && machine_->view().members.contains(rank_at(id)))
      event.tags[id] = *tags;
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
        keep_others();
        receive_early();
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

void Member::keep_others() {
  std::vector<Address> others;
  for (const auto& [id, place] : book_)
    if (rank_at(id) != machine_->self() && machine_->view().members.contains(rank_at(id)))
      others.push_back(place.address);
  known_group_->keep(std::move(others));
}

// Under a new incarnation: what is on its way to the one before is not for this one. It is said on
// the connections that there are, too: nobody listens to the one before any more.
void Member::become_joining() {
  if (machine_) {
    old_id_ = index(machine_->self());
    const Ids members = machine_->view().members;
    machine_.reset();
    silences_.clear();
    early_.clear();
    early_bytes_ = 0;
    own_.incarnation = static_cast<std::uint64_t>(realtime_ns());
    note_tags(own_, options_.tags);
    contacts_.clear();
    for (const auto& [id, place] : book_) {
      if (place.address == own_.address) continue;
      // Those who are gone may be back, but are asked last.
      if (members.contains(rank_at(id)))
        contacts_.push_front(place.address);
      else
        contacts_.push_back(place.address);
    }
    add_seeds();
    for (const auto& [address, key] : own_connections_) say(key, hello_to(*connections_.at(key)));
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
  const std::uint64_t key = connection_to({contacts_.front(), 0});
  tell_tags(key, own_);
  say(key, join);
}

void Member::watch_neighbors(std::int64_t now) {
  const Ids neighbors = machine_->neighbors();
  std::erase_if(silences_, [&](const auto& s) { return !neighbors.contains(rank_at(s.first)); });
  neighbors.for_each([&](Rank id) {
    const auto [place, is_new] = silences_.try_emplace(index(id));
    if (is_new) place->second.start({now});
  });
}

void Member::say_heartbeat(std::int32_t id) {
  if (const auto place = book_.find(id); place != book_.end())
    send(place->second, frame_of(FrameKind::heartbeat));
}

void Member::handle_silence(std::int64_t now, std::int32_t id) {
  if (!machine_) return;
  machine_->handle_suspicion({now}, rank_at(id), protocols::Evidence::silence);
  drain();
}

std::int64_t Member::next_deadline() const {
  return machine_ ? machine_->poll_timeout().at.ticks
                  : std::min(ask_at_, known_group_->ask_until_ns());
}

void Member::handle_deadline(std::int64_t now) {
  if (!machine_ && known_group_->is_given_up(now)) {
    note(MemberEvent::Kind::founding);
    found();
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
}

}  // namespace resprout::runtime::member

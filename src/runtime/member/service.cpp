// See service.hpp.
#include "runtime/member/service.hpp"

#include <algorithm>
#include <array>

#include "runtime/net/clock.hpp"
#include "runtime/net/socket.hpp"

namespace resprout::runtime::member {
namespace {

constexpr std::uint64_t listener_key = 0;
// So many may be about to prove that they know the secret; far more than join at once.
constexpr std::ptrdiff_t strangers_max = 256;

}  // namespace

Service::Service(const MemberOptions& options)
    : options_(options),
      config_{{options.radix}, options.period_ns},
      listener_(listen_on(options.listen.host, options.listen.port)) {
  own_.address = options.advertise.value_or(options.listen);
  if (own_.address.port == 0) own_.address.port = local_port(listener_);
  own_.incarnation = static_cast<std::uint64_t>(realtime_ns());
  known_group_.emplace(options_.state, own_.address);
  poller_.add(listener_, listener_key, EPOLLIN);
  beat_at_ = monotonic_ns();
}

std::optional<MemberEvent> Service::run(int timeout_ms) {
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

void Service::serve(int timeout_ms) {
  std::array<epoll_event, 64> ready;
  if (is_retired()) {
    poller_.wait(ready, timeout_ms);
    return;
  }
  std::int64_t wake = std::min(beat_at_, next_deadline());
  for (const auto& [key, connection] : connections_)
    if (connection->give_up_at >= 0) wake = std::min(wake, connection->give_up_at);
  const std::int64_t wait = std::max<std::int64_t>(wake - monotonic_ns(), 0) / 1'000'000 + 1;
  for (const epoll_event& event :
       poller_.wait(ready, static_cast<int>(std::min<std::int64_t>(wait, timeout_ms)))) {
    if (event.data.u64 == listener_key)
      accept_all();
    else
      advance(event.data.u64);
    if (is_retired()) break;
  }
  if (is_retired())
    while (!connections_.empty()) forget(connections_.begin()->first);
  else
    handle_time(monotonic_ns());
}

void Service::accept_all() {
  for (;;) {
    Fd socket = accept_on(listener_);
    if (!socket.is_open()) return;
    const std::uint64_t key = next_key_++;
    auto connection = std::make_unique<Connection>(
        Connection{Link::accept(std::move(socket), options_.secrets), {}});
    connection->give_up_at = monotonic_ns() + options_.timeout_ns;
    poller_.add(connection->link.socket(), key, EPOLLIN);
    connections_[key] = std::move(connection);
    drop_oldest_stranger();
  }
}

// Who connects and says nothing must not use up the descriptors that members need.
void Service::drop_oldest_stranger() {
  const auto is_stranger = [](const auto& entry) {
    return !entry.second->link.is_own() && !entry.second->link.has_opened();
  };
  if (std::ssize(connections_) <= strangers_max) return;
  if (std::ranges::count_if(connections_, is_stranger) <= strangers_max) return;
  // Keys are in the order of age.
  forget(std::ranges::find_if(connections_, is_stranger)->first);
}

void Service::advance(std::uint64_t key) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  Connection& connection = *found->second;
  std::vector<Frame> frames;
  connection.link.advance(frames);
  if (connection.link.has_opened() && !connection.is_second_try) connection.give_up_at = -1;
  // What was said before the end counts.
  for (const Frame& frame : frames) {
    handle(key, frame);
    if (is_retired()) return;
  }
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
std::unique_ptr<Service::Connection> Service::forget(std::uint64_t key) {
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
void Service::maybe_say_rejected(Connection& connection) {
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

Statistics Service::statistics() const {
  Statistics sum = ended_;
  sum.connections = connections_.size();
  for (const auto& [key, connection] : connections_) {
    sum.sent += connection->link.sent();
    sum.received += connection->link.received();
  }
  return sum;
}

Service::Connection& Service::connect(const Place& place, bool is_second_try, std::int32_t id,
                                      std::uint64_t since) {
  const std::uint64_t key = next_key_++;
  auto made = std::make_unique<Connection>(
      Connection{Link::connect(place.address, options_.secrets), place, id, since});
  Connection& connection = *made;
  connection.is_second_try = is_second_try;
  connection.used_at = monotonic_ns();
  connection.give_up_at = connection.used_at + health_.stretch(options_.timeout_ns);
  connection.link.say(hello_to(connection));
  if (connection.link.is_over()) {
    // The end is seen when the caller is done.
    connection.give_up_at = 0;
  } else {
    poller_.add(connection.link.socket(), key, connection.link.events());
  }
  own_connections_[place.address] = key;
  connections_[key] = std::move(made);
  return connection;
}

// Refused, or open to somebody who is not the one that was meant and went away at that.
bool Service::is_proof(const Connection& connection) {
  return connection.link.state() == Link::State::refused ||
         (connection.is_second_try && connection.link.has_opened() && !connection.is_given_up);
}

void Service::say(std::uint64_t key, const Frame& frame) {
  Connection& connection = *connections_.at(key);
  connection.link.say(frame);
  connection.used_at = monotonic_ns();
  if (connection.link.is_over())
    connection.give_up_at = 0;
  else
    poller_.modify(connection.link.socket(), key, connection.link.events());
}

std::size_t Service::unsent_bytes(const Address& address) const {
  const auto key = own_connections_.find(address);
  return key == own_connections_.end() ? 0 : connections_.at(key->second)->link.unsent_bytes();
}

void Service::note_message(std::int32_t from, Bytes data) {
  note(MemberEvent::Kind::message, from);
  events_.back().data = std::move(data);
}

// Before anything is given up: in the time that this process was kept from running nobody could be
// heard, nor could a connection open.
void Service::note_health(std::int64_t now) {
  if (now < beat_at_) return;
  const std::int64_t starved = protocols::starved_for(now - beat_at_, options_.period_ns);
  health_.handle_deadline(starved != 0);
  if (starved == 0) return;
  for (auto& [id, silence] : silences_) silence.forgive({now}, starved);
  for (auto& [key, connection] : connections_)
    if (connection->give_up_at > 0) connection->give_up_at += starved;
}

void Service::note(MemberEvent::Kind kind, std::int32_t about) {
  MemberEvent event;
  event.kind = kind;
  event.time_ns = realtime_ns();
  event.about = about;
  describe(event);
  events_.push_back(std::move(event));
}

void Service::beat(std::int64_t now) {
  beat_at_ = now + options_.period_ns;
  std::vector<std::int32_t> silent;
  for (const auto& [id, silence] : silences_) {
    say_heartbeat(id);
    if (silence.length({now}) >= health_.stretch(options_.timeout_ns)) silent.push_back(id);
  }
  for (const std::int32_t id : silent) handle_silence(now, id);
}

void Service::handle_time(std::int64_t now) {
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
  handle_deadline(now);
  if (now >= beat_at_) beat(now);
}

}  // namespace resprout::runtime::member

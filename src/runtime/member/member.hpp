// One member of a membership over TCP, without MPI: Scalable Membership in the real world.
//
// A death shows as a connection that breaks, or as one that is refused; a hang as silence of a
// neighbor in the tree. A connection that breaks is tried once more, to tell the end of the process
// (refused, or somebody else is there: a proof) from a fault of the network (a suspicion). An
// excluded process joins again by itself, under its identifier. A member that was kept from running
// does not count that time, and is more patient with all until it has been on time again.
//
// Thread rule: one thread, that of the caller of `run`.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocols/failure_detector/local_health.hpp"
#include "protocols/failure_detector/silence.hpp"
#include "runtime/member/link.hpp"
#include "runtime/member/order.hpp"

namespace resprout::runtime::member {

struct MemberOptions {
  Address listen;               // port 0: any that is free
  std::optional<Address> join;  // any member; nothing: the first one of a new membership
  int radix = 2;
  std::int64_t period_ns = 500'000'000;     // from heartbeat to heartbeat
  std::int64_t timeout_ns = 5'000'000'000;  // of silence
  auth::Secret secret{};                    // that all members share
  std::optional<Order> order;               // the places of members, the same for all of them
  std::string host_name;                    // as the order may name this host
};

// What has happened to this member. The view is that after it.
struct MemberEvent {
  enum class Kind : std::uint8_t {
    joining,
    view,
    suspected,
    decided,
    excluded,
    isolated,
    rejected
  };
  Kind kind = Kind::view;
  std::int64_t time_ns = 0;  // realtime
  std::uint64_t epoch = 0;
  std::vector<std::int32_t> members;
  std::int32_t self = -1;   // -1: it has no identifier yet
  std::int32_t about = -1;  // suspected: whom
  // Of rejected: why (another version or another secret), the version in the first case, and where.
  auth::Failure failure = auth::Failure::none;
  int peer_version = -1;
  std::string peer;
};

class Member {
 public:
  // Throws std::system_error: cannot listen. REQUIRES: the radix is valid; 0 < period < timeout.
  explicit Member(const MemberOptions& options);

  // Serves the membership until something has happened, for at most `timeout_ms`. The next of what
  // has happened; nothing: the time is over.
  std::optional<MemberEvent> run(int timeout_ms);

  const Address& address() const { return own_.address; }
  bool has_order() const { return options_.order.has_value(); }
  // That the order gives it; -1: none. It asks for this one when it joins for the first time.
  std::int32_t place() const { return place_; }
  // Since it was made.
  Statistics statistics() const;

 private:
  struct Connection {
    Link link;
    Place peer;                  // own: whom it is meant for; else who says to be there
    bool is_second_try = false;  // the first one broke
    bool is_given_up = false;
    std::int64_t give_up_at = -1;  // unless it has opened the first time
    bool has_told_book = false;    // who has been a member is known there
  };

  void serve(int timeout_ms);
  void accept_all();
  void drop_oldest_stranger();
  void advance(std::uint64_t key);
  std::unique_ptr<Connection> forget(std::uint64_t key);
  void handle_end(const Connection& connection);
  void maybe_say_rejected(Connection& connection);
  void handle(std::uint64_t key, const Frame& frame);
  void handle_join(const Frame& frame);
  void handle_message(const Frame& frame);
  void learn(const Frame& frame);

  void become_joining();
  void ask_for_admission();
  void drain();
  void note(MemberEvent::Kind kind, std::int32_t about = -1);
  void suspect(const Place& place, protocols::Evidence evidence);
  std::uint64_t connection_to(const Place& place);
  void say(std::uint64_t key, const Frame& frame);
  void send(const Place& place, const Frame& frame) { say(connection_to(place), frame); }
  void connect(const Place& place, bool is_second_try);
  void send_message(const Machine::Message& message);

  void handle_time(std::int64_t now);
  void note_health(std::int64_t now);
  void beat(std::int64_t now);
  void watch_neighbors(std::int64_t now);
  void find_place();
  std::int32_t first_id() const;
  bool is_for(const Frame& join, std::int32_t id) const;
  std::int32_t id_for(const Frame& join) const;
  std::optional<std::int32_t> id_of(const Place& place) const;

  MemberOptions options_;
  protocols::MembershipConfig config_;
  Poller poller_;
  Fd listener_;
  Place own_;
  std::optional<Machine> machine_;
  Book book_;
  std::deque<Address> contacts_;  // of a joiner, the next one first
  std::int32_t old_id_ = -1;
  std::int32_t place_ = -1;
  Ids reserved_;  // of all members in the order
  std::int64_t ask_at_ = 0;
  std::int64_t beat_at_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::map<Address, std::uint64_t> own_connections_;
  std::map<std::int32_t, protocols::Silence> silences_;  // of the neighbors
  protocols::LocalHealth health_;
  std::uint64_t next_key_ = 1;
  std::deque<MemberEvent> events_;
  std::set<std::pair<auth::Failure, int>> said_rejected_;
  Statistics ended_;  // of connections that are over
};

}  // namespace resprout::runtime::member

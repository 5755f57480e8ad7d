// What members with whole views (member.hpp) and with local ones (local_member.hpp) have in common:
// connections, a clock, and the events that the program has not taken yet.
//
// A connection that breaks is tried once more, to tell the end of the process (refused, or somebody
// else is there: a proof) from a fault of the network (a suspicion). A member that was kept from
// running does not count that time, and is more patient with all until it has been on time again.
//
// Thread rule: one thread, that of the caller of `run`.
#pragma once

#include <cstdint>
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
#include "runtime/member/addresses.hpp"
#include "runtime/member/known_group.hpp"
#include "runtime/member/link.hpp"
#include "runtime/member/tags.hpp"
#include "runtime/net/order.hpp"

namespace resprout::runtime::member {

struct MemberOptions {
  Address listen;                    // port 0: any that is free
  std::optional<Address> advertise;  // where the others reach it; nothing: at `listen`. Port 0:
                                     // that at which it listens
  std::vector<Address> join;         // members that are asked in turn; none: it founds a membership
  int radix = 2;
  std::int64_t period_ns = 500'000'000;     // from heartbeat to heartbeat
  std::int64_t timeout_ns = 5'000'000'000;  // of silence
  // Others are accepted with any of these 1 to auth::secrets_max; to others the first one is
  // proven.
  std::vector<auth::Secret> secrets{auth::Secret{}};
  Tags tags;                           // that all members with whole views show of it
  std::optional<Order> order;          // the places of members, the same for all of them
  std::string host_name;               // as the order may name this host
  std::optional<Addresses> addresses;  // with local views: of all who may be members
  std::string state;                   // a file for known_group.hpp; empty: nothing is kept
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
    rejected,
    founding,  // nobody of the group that was kept answers: it founds another one
    message,   // another member has said something to it in this view
    removed    // another member has told it to leave: it is no member, and never will be again
  };
  // Of a local view: its name, whom this member watches, and what is different from the last one.
  struct Local {
    protocols::Tally members;
    std::int32_t root = -1;
    std::vector<std::int32_t> neighbors;
    std::vector<std::int32_t> entered;
    std::vector<std::int32_t> left;
  };
  Kind kind = Kind::view;
  std::int64_t time_ns = 0;  // realtime
  std::uint64_t epoch = 0;
  std::vector<std::int32_t> members;  // of a whole view
  std::optional<Local> local;
  std::int32_t self = -1;   // -1: it has no identifier yet
  std::int32_t about = -1;  // suspected: whom
  // Of rejected: why (another version or another secret), the version in the first case, and where.
  auth::Failure failure = auth::Failure::none;
  int peer_version = -1;
  std::string peer;
  Bytes data;                         // of a message: what `about` has said
  std::map<std::int32_t, Tags> tags;  // of a whole view: of the members that have some
};

class Service {
 public:
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  // Serves the membership until something has happened, for at most `timeout_ms`. The next of what
  // has happened; nothing: the time is over.
  std::optional<MemberEvent> run(int timeout_ms);

  const Address& address() const { return own_.address; }
  bool has_order() const { return options_.order.has_value(); }
  // The identifier that the order gives this member; -1: none. It asks for it when it joins for the
  // first time.
  std::int32_t place() const { return place_; }
  // Since it was made.
  Statistics statistics() const;

  // The secrets of connections that begin from now on; see MemberOptions.
  void use(std::vector<auth::Secret> secrets) { options_.secrets = std::move(secrets); }

  // What is known of a member.
  struct Known {
    Address address;
    Tags tags;
  };
  // Of all in its view, itself among them; with local views of those whom it watches.
  virtual std::map<std::int32_t, Known> known() const = 0;

  enum class Refusal : std::uint8_t { none, no_views, no_member, nobody, too_long, too_much };
  // Tells the member `id` to leave. If those who remain are a quorum, it is excluded at once,
  // whether it is heard or not.
  virtual Refusal remove(std::int32_t id) = 0;

  struct Said {
    Refusal refusal = Refusal::none;
    std::uint64_t epoch = 0;  // of the view in which it was said
  };
  // Says `bytes` to the member `to`, or, with `everybody`, to all others of its view. A member gets
  // it while it is in the view in which it was said, or not at all (same-view delivery), once, and
  // in order with all else that this one says to it. Not said if a receiver has not taken what was
  // said before.
  static constexpr std::int32_t everybody = -1;
  virtual Said say_to(std::int32_t to, std::span<const std::uint8_t> bytes) = 0;

 protected:
  struct Connection {
    Link link;
    Place peer;                  // own: whom it is meant for; else who says to be there
    std::int32_t id = -1;        // with local views: of the peer
    std::uint64_t since = 0;     // with local views: what was known of the peer when it began
    bool is_second_try = false;  // the first one broke
    bool is_given_up = false;
    std::int64_t give_up_at = -1;  // unless it has opened the first time
    std::int64_t used_at = 0;
    bool has_told_book = false;  // who has been a member is known there
    std::map<Address, std::uint64_t>
        told_tags{};  // by address: the incarnation whose tags it knows
  };

  // Throws std::system_error: cannot listen. REQUIRES: the radix is valid; 0 < period < timeout.
  explicit Service(const MemberOptions& options);

  virtual void handle(std::uint64_t key, const Frame& frame) = 0;
  virtual void handle_end(const Connection& connection) = 0;  // of an own one
  virtual void handle_silence(std::int64_t now, std::int32_t id) = 0;
  virtual void handle_deadline(std::int64_t now) = 0;
  virtual std::int64_t next_deadline() const = 0;
  virtual void say_heartbeat(std::int32_t id) = 0;
  virtual void describe(MemberEvent& event) const = 0;
  virtual Frame hello_to(const Connection& connection) const = 0;

  void note(MemberEvent::Kind kind, std::int32_t about = -1);
  std::unique_ptr<Connection> forget(std::uint64_t key);
  Connection& connect(const Place& place, bool is_second_try, std::int32_t id = -1,
                      std::uint64_t since = 0);
  void say(std::uint64_t key, const Frame& frame);
  // How many bytes for `address` wait until the connection has room for them.
  std::size_t unsent_bytes(const Address& address) const;
  void note_message(std::int32_t from, Bytes data);
  // Whether the end of this own connection proves that whom it was meant for is no more.
  static bool is_proof(const Connection& connection);
  // No member from now on: all connections end once the frame in hand is dealt with.
  void retire() { poller_.remove_and_close(listener_); }
  bool is_retired() const { return !listener_.is_open(); }

  MemberOptions options_;
  protocols::MembershipConfig config_;
  Poller poller_;
  Fd listener_;
  Place own_;
  std::int32_t place_ = -1;
  std::int64_t beat_at_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::map<Address, std::uint64_t> own_connections_;
  std::map<std::int32_t, protocols::Silence> silences_;  // of the neighbors
  protocols::LocalHealth health_;
  std::deque<MemberEvent> events_;
  std::optional<KnownGroup> known_group_;  // there once it knows its own address

 private:
  void serve(int timeout_ms);
  void accept_all();
  void drop_oldest_stranger();
  void advance(std::uint64_t key);
  void maybe_say_rejected(Connection& connection);
  void handle_time(std::int64_t now);
  void note_health(std::int64_t now);
  void beat(std::int64_t now);

  std::uint64_t next_key_ = 1;
  std::set<std::pair<auth::Failure, int>> said_rejected_;
  Statistics ended_;  // of connections that are over
};

inline Frame frame_of(FrameKind kind) {
  Frame frame;
  frame.kind = kind;
  return frame;
}

}  // namespace resprout::runtime::member

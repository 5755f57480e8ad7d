// One member of a membership over TCP, without MPI: Scalable Membership in the real world.
//
// A death shows as a connection that breaks, or as one that is refused; a hang as silence of a
// neighbor in the tree (service.hpp). An excluded process joins again by itself, under its
// identifier.
//
// Thread rule: one thread, that of the caller of `run`.
#pragma once

#include <deque>
#include <optional>

#include "runtime/member/service.hpp"

namespace resprout::runtime::member {

class Member final : public Service {
 public:
  // Throws std::system_error: cannot listen. REQUIRES: the radix is valid; 0 < period < timeout.
  explicit Member(const MemberOptions& options);

  std::map<std::int32_t, Known> known() const override;
  Refusal remove(std::int32_t id) override;
  Said say_to(std::int32_t to, std::span<const std::uint8_t> bytes) override;

 private:
  void handle(std::uint64_t key, const Frame& frame) override;
  void handle_end(const Connection& connection) override;
  void handle_silence(std::int64_t now, std::int32_t id) override;
  void handle_deadline(std::int64_t now) override;
  std::int64_t next_deadline() const override;
  void say_heartbeat(std::int32_t id) override;
  void describe(MemberEvent& event) const override;
  Frame hello_to(const Connection& connection) const override;

  void handle_join(const Frame& frame);
  void handle_message(const Frame& frame);
  void handle_said(const Connection& connection, const Frame& frame);
  void receive_early();
  void learn(const Frame& frame);

  void found();
  void add_seeds();
  void become_joining();
  void keep_others();
  void ask_for_admission();
  void drain();
  void suspect(const Place& place, protocols::Evidence evidence);
  std::uint64_t connection_to(const Place& place);
  void send(const Place& place, const Frame& frame) { say(connection_to(place), frame); }
  void send_message(const Machine::Message& message);
  void tell_tags(std::uint64_t key, const Place& place);
  const Tags* tags_of(const Place& place) const;
  void note_tags(const Place& place, Tags tags);

  void watch_neighbors(std::int64_t now);
  void find_place();
  std::int32_t first_id() const;
  bool is_for(const Frame& join, std::int32_t id) const;
  std::int32_t id_for(const Frame& join) const;
  std::optional<std::int32_t> id_of(const Place& place) const;

  std::optional<Machine> machine_;
  Book book_;
  std::deque<Address> contacts_;  // of a joiner, the next one first
  std::int32_t old_id_ = -1;
  Ids reserved_;  // of all members in the order
  std::int64_t ask_at_ = 0;
  // Said in views that are still to come here.
  struct Early {
    Place from;
    std::uint64_t epoch;
    Bytes data;
  };
  std::deque<Early> early_;
  std::size_t early_bytes_ = 0;
  // What is known of tags, of members and of those who were some or would be. Each connection says
  // somebody's tags before it names that place for the first time: so all who know a member know
  // its tags.
  struct TagsOf {
    std::uint64_t incarnation;
    Tags tags;
  };
  std::map<Address, TagsOf> tags_;
};

}  // namespace resprout::runtime::member

// One member with a local view, over TCP and without MPI: what it keeps does not depend on how many
// members there are. The machine in protocols/local_membership decides, this moves its messages.
//
// Who is where is arithmetic and a file (addresses.hpp), so nobody tells anybody addresses; of
// others this process keeps what it needs to tell one life of theirs from the next one, and only of
// those whom it watches or has a connection with. Unused connections are closed.
//
// The law of the machine's drivers is kept as follows. Who says hello under another incarnation
// than before is somebody new: who was before is told as dead first, unless the new one has been
// admitted meanwhile. For that `since` counts admissions: an end of a connection tells nothing of
// who was admitted after it had begun. What somebody said before a newer incarnation's hello is
// dropped after it.
//
// Thread rule: one thread, that of the caller of `run`.
#pragma once

#include <map>
#include <vector>

#include "runtime/member/service.hpp"

namespace resprout::runtime::member {

class LocalMember final : public Service {
 public:
  // Throws std::system_error: cannot listen; std::invalid_argument: `listen` or `join` is not among
  // the addresses. REQUIRES: there are addresses; as for Service.
  explicit LocalMember(const MemberOptions& options);

  std::map<std::int32_t, Known> known() const override;
  // It does not know who is a member.
  Refusal remove(std::int32_t) override { return Refusal::no_views; }
  Said say_to(std::int32_t, std::span<const std::uint8_t>) override { return {Refusal::no_views}; }

 private:
  struct Peer {
    std::uint64_t incarnation = 0;  // that has said hello last; 0: none
    std::uint64_t since = 0;        // which admission it was, counted from 1; 0: from the start
    bool may_be_new = false;        // admitted since its last hello
  };

  void handle(std::uint64_t key, const Frame& frame) override;
  void handle_end(const Connection& connection) override;
  void handle_silence(std::int64_t now, std::int32_t id) override;
  void handle_deadline(std::int64_t now) override;
  std::int64_t next_deadline() const override;
  void say_heartbeat(std::int32_t id) override;
  void describe(MemberEvent& event) const override;
  Frame hello_to(const Connection& connection) const override;

  void handle_hello(std::uint64_t key, const Frame& frame);
  void suspect(std::int32_t id, protocols::Evidence evidence);
  void drain();
  void follow(const protocols::LocalEvent& event);
  void found();
  void keep_neighbors();
  void become_joining();
  void watch_neighbors();
  void send(std::int32_t id, const Frame& frame);
  void drop_unused(std::int64_t now);

  std::int32_t self_ = -1;
  std::vector<std::int32_t> seeds_;  // without itself
  std::optional<LocalMachine> machine_;
  std::map<std::int32_t, Peer> peers_;
  std::uint64_t admissions_ = 0;
  std::vector<std::int32_t> entered_;  // since the last view
  std::vector<std::int32_t> left_;
};

}  // namespace resprout::runtime::member

// The sessions of this process: opened, closed, and still there for latecomers; and what came for
// those that are not open yet.
//
// Thread rule: under the engine's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/early_frame.hpp"
#include "runtime/session.hpp"

namespace resprout::runtime {

class Farewell;

class OpenSessions {
 public:
  // REQUIRES: `progress` outlives it.
  explicit OpenSessions(Progress& progress);
  ~OpenSessions();

  // The session of a communicator whose members are these world ranks, in communicator order. The
  // n-th session of the same members has the same identity at all of them.
  Session& open(const std::vector<int>& world_ranks);
  // The same under a name that all members know (Session::child): the same name and members give
  // the same identity.
  Session& open(std::uint64_t name, const std::vector<int>& world_ranks);
  // Everybody is done with it. It stays able to answer until many younger ones are closed. A
  // revoked one gives its memory back when all have closed it (farewell.hpp).
  void close(Session& session);
  // The session is revoked, and closed.
  void bid_farewell(Session& session);

  bool has_farewells() const { return !farewells_.empty(); }
  void advance_farewells();

  void handle_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                    Arrival arrival);
  // Somebody of this host says that the session with this identity is revoked.
  void handle_revocation(std::uint64_t id);
  void handle_loss(int world_rank);
  void cut_off();

  template <typename Visit>  // (session)
  void for_each(Visit visit) const {
    for (const auto& [id, session] : sessions_) visit(*session);
  }
  // Frames for sessions that are not open.
  std::size_t orphan_count() const { return orphans_.size(); }

 private:
  void retire(Session& session);

  Progress& progress_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Session>> sessions_;
  std::unordered_map<std::uint64_t, std::uint32_t> opened_;  // by members: how many so far
  std::vector<std::uint64_t> closed_;                        // oldest first, still in sessions_
  std::unordered_set<std::uint64_t> gone_;
  std::vector<EarlyFrame> orphans_;
  std::unordered_set<std::uint64_t> revoked_early_;  // of sessions that are not open here
  std::vector<std::unique_ptr<Farewell>> farewells_;
};

}  // namespace resprout::runtime

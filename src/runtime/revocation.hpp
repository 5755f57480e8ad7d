// What this process knows of the revocation of one session, and whom it tells
// (Plan B, section 3): docs/explanation/protocols/revoke.md.
//
// The notice spreads over the binomial graph of the communicator, each process passing it on once,
// but not to those of whom it has it. Whoever is the first on a host to have it says so on the
// host's board (host_notices.hpp), in one instruction: then all on the host are told, and it is
// passed on to other hosts only.
//
// Thread rule: under the engine's lock, but for `is_known`.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "protocols/revoke/revoke.hpp"
#include "runtime/members.hpp"
#include "runtime/progress.hpp"

namespace resprout::runtime {

// In a frame's header: it belongs to the revocation of the session, not to an operation.
inline constexpr std::uint64_t revocation_number = ~std::uint64_t{0};

class Revocation {
 public:
  // REQUIRES: `progress` outlives it.
  Revocation(Progress& progress, std::uint64_t session, std::shared_ptr<const Members> everybody,
             bool is_on_one_host);

  bool is_known() const { return is_known_.load(std::memory_order_acquire); }

  // The session is revoked: as this process says, or as it was told by a member or on the host's
  // board. True: it did not know. Nothing is sent before `flush`.
  bool begin();
  bool handle_notice(int peer, const Message& notice);
  bool handle_notice_of_host();
  // REQUIRES: is_known().
  void handle_loss(int world_rank);
  // Sends what can be sent. False: something is left.
  bool flush();

 private:
  Context context();
  bool is_told(Rank rank) const;
  bool note_event(const Context& context);

  Progress& progress_;
  const std::uint64_t session_;
  const std::shared_ptr<const Members> everybody_;
  const bool is_on_one_host_;
  protocols::Revoke machine_;
  std::vector<Rank> lost_;  // what the context refers to
  std::optional<Message> unsent_notice_;
  std::vector<Rank> told_by_;
  bool is_host_told_ = false;
  std::atomic<bool> is_known_ = false;
};

}  // namespace resprout::runtime

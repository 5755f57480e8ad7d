// The agreed views of a job: Scalable Membership, sections 3.2 to 3.7, on its lifeline. All ranks
// are the first view, with epoch 1; after losses the living agree on the next one.
//
// The lifeline finds losses and tells them to everybody; nobody waits for a view. What the machine
// (protocols/membership) adds is that all who live say the same, in the same order, and that of two
// sides that cannot hear each other one at most goes on. Since everybody hears of a loss from the
// flood or from the kernel, the coordinator needs no reports: others give it some time before they
// send one.
//
// Identifiers are places in the radix tree: members of a host stand together (view_tree.hpp).
// Nobody joins. When the first process says goodbye the job is at its end, and no view is agreed on
// any more.
//
// Invariants
//  1. Nothing is said, and no machine made, before somebody is lost.
//  2. A loss is proven if a kernel has seen the end of the process: on its host, or by refusing a
//     connection to its port. All else is silence.
//
// Thread rule: the lifeline's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "protocols/membership/membership.hpp"
#include "runtime/lifeline/findings.hpp"
#include "runtime/lifeline/overlay.hpp"
#include "runtime/lifeline/roster.hpp"
#include "runtime/lifeline/view_tree.hpp"

namespace resprout::runtime {

class Views {
 public:
  // Whether this process may go on.
  enum class Fate : std::uint8_t {
    goes_on,
    excluded,  // the others are in a view without it
    isolated,  // for two heartbeat timeouts it has known too few who could go on with it
  };

  Views(const LifelineOptions& options, const Roster& roster, Findings& findings, Overlay& overlay,
        ViewTree tree)
      : options_(options),
        roster_(roster),
        findings_(findings),
        overlay_(overlay),
        tree_(std::move(tree)) {}

  // `loss.rank` is lost; also later, when the proof comes.
  void handle_loss(const Loss& loss, std::int64_t now);
  void handle_message(int from, std::span<const std::uint8_t> bytes, std::int64_t now);
  // Often.
  void handle_time(std::int64_t now);
  // Somebody has said goodbye: no more views, unless this process has no quorum.
  void handle_goodbye();

  // Who lives here, as far as it is known, is no quorum of the last view: nobody may be taken for
  // lost now but for who is proven dead. Changes with losses, messages and time.
  bool is_isolated() const { return machine_ && machine_->is_isolated(); }
  Fate fate(std::int64_t now) const;

 private:
  using Machine = protocols::LargeMembership;
  using Ids = Machine::Ids;

  // A loss that the machine has not been told of.
  struct Pending {
    Rank id;
    protocols::Evidence evidence;
    std::int64_t heard_at;
    std::int64_t due_at;
  };

  bool is_kept() const;
  void begin();
  Rank id_of(int rank) const { return rank_at(tree_.places[static_cast<std::size_t>(rank)]); }
  void maybe_tell_machine(std::int64_t now);
  bool has_to_tell(std::int64_t now) const;
  void drain(std::int64_t now);
  void note_installed();

  const LifelineOptions& options_;
  const Roster& roster_;
  Findings& findings_;
  Overlay& overlay_;
  const ViewTree tree_;

  bool is_over_ = false;
  protocols::MembershipConfig config_;  // of the machine
  std::unique_ptr<Machine> machine_;    // from the first loss on
  std::map<Rank, int> rank_of_;
  std::vector<Pending> pending_;
  std::map<Rank, std::int64_t> detected_ns_;
  std::int64_t decided_ns_ = 0;  // of the view that is about to be installed; 0: by another process
  std::int64_t isolated_since_ = 0;
  protocols::View<Ids::capacity / 64> installed_{1, {}};
};

}  // namespace resprout::runtime

// What a spec says, once it has been read: which protocol, with which parameters.
//
// A spec is text: PROTOCOL[:OPTION=VALUE,...], as in
//   corrected-tree:tree=kary,k=4,correction=checked,start=synchronized
// Thread rule: values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "protocols/corrected_gossip/late.hpp"
#include "protocols/corrected_tree/config.hpp"
#include "protocols/digest_vote/method.hpp"
#include "protocols/ftco_in_band/service_distance.hpp"
#include "topology/tree.hpp"

namespace resprout::registry {

enum class ProtocolId : std::uint8_t {
  corrected_tree,
  reliable_broadcast,
  ftco_allreduce,
  ftco_reduce,
  corrected_gossip,
  acknowledged_tree,
  multi_tree,
  corrected_reduce,
  reliable_gossip,
  ftco_broadcast,
  membership,
  native_until_loss,
  digest_vote,
  decision_log,
  revoke,
  shared_slots,
  agree,
  link_watch,
};
// Which of the links between processes are cut at once.
enum class CutKind : std::uint8_t { one_way, link, hosts };

enum class TreeKind : std::uint8_t { binomial, kary, knomial, lame, optimal };

// Of FTCO: one, as many as k, or the largest power of two of processes by recursive doubling.
enum class Roots : std::uint8_t { single, multi, doubling };

// How FTCO learns of failures: from a detector of the process, or in the operation itself.
enum class Detection : std::uint8_t { suspicion, in_band };

// Who asks whom, and when, with in-band detection: as the paper writes, or, while nobody fails, as
// the simulator of its authors does.
enum class Polling : std::uint8_t { written, simulated };

// What the program does beside revoking, again and again: its plans A and B.
enum class Plan : std::uint8_t { none, barrier, allreduce };

// Whether programs over shared slots have gathers, and who takes part in these shared slots: nobody
// is known to before the first rendezvous, all are, or the last member does not.
enum class Gathers : std::uint8_t { none, fresh, met, lacking };

// What else is explored of programs over shared slots.
struct SlotProgram {
  bool runs_again;  // what is over, and new shared slots follow
  Gathers gathers;
  std::int32_t group;  // of so many members of a rendezvous; 0: there are no groups

  bool operator==(const SlotProgram&) const = default;
};

// How gossip ends.
struct Gossip {
  std::int32_t time;     // when, if it has no rounds
  std::int32_t rounds;   // 0: it ends by time
  protocols::Late late;  // if it ends by time

  bool operator==(const Gossip&) const = default;
};

// What becomes of data links, and of the processes at their ends.
struct WatchedLinks {
  CutKind cut;
  std::int32_t cuts;        // at most
  std::int32_t late_units;  // so long may processes come late or be starved
  std::int32_t ranks_per_host;

  bool operator==(const WatchedLinks&) const = default;
};

// Of the parameters only those have a meaning that the protocol has options for.
struct Spec {
  ProtocolId protocol;
  TreeKind tree;
  std::int32_t k;
  topology::Numbering numbering;
  protocols::CorrectionRules correction;  // its delay: beyond the time of a message
  protocols::StartMode start;
  protocols::EarlyPolicy early;
  Gossip gossip;                      // how it ends
  std::int32_t trees;                 // of a multi-tree
  Roots roots;                        // FTCO
  Detection detection;                // FTCO
  protocols::Service service;         // FTCO, in-band
  Polling polling;                    // likewise, allreduce
  protocols::VoteMethod vote_method;  // of a digest-vote
  protocols::Unproven unproven;       // likewise
  bool is_corrupted;                  // likewise, simulated: the copy of process 0 is
  bool has_local_views;               // membership: nobody keeps a list of the members
  std::int32_t degree;                // of replicas of a rank
  std::int32_t window;                // of a decision-log: held at most
  std::int32_t decisions;             // likewise, simulated: so many does a program make
  bool closes_ring;                   // revoke: over the dead
  Plan plan;                          // revoke
  std::int32_t operation;             // of the plan, that is measured
  std::int32_t broadcasts;            // shared slots: slots for them
  std::int32_t operations;            // likewise: so many does a program have
  bool may_be_revoked;                // likewise: the communicator
  SlotProgram shared_slots;           // likewise
  WatchedLinks links;                 // link-watch, explored

  bool operator==(const Spec&) const = default;
};

// Whose result everybody has: no rank is its root.
constexpr bool is_allreduce(ProtocolId protocol) {
  return protocol == ProtocolId::ftco_allreduce || protocol == ProtocolId::native_until_loss ||
         protocol == ProtocolId::agree;
}

// What a protocol is called now: "lanes" is an earlier name of "shared-slots".
std::string_view current_name(std::string_view name);

// The spec, or one line that names the option, what was given and what is valid.
std::variant<Spec, std::string> parse(std::string_view text);

// --- the list of all there is
// -----------------------------------------------------------------------

struct Option {
  std::string_view name;
  std::string_view values;  // words with | between them, or LOWEST..HIGHEST
  std::string_view fallback;
  std::string_view help;
  void (*set)(Spec& spec, std::int32_t value);  // the number, or the index of the word
};

struct Protocol {
  std::string_view name;
  ProtocolId id;
  std::string_view
      operation;  // broadcast, allreduce, reduce, view, message, decisions, revocation, calls
  std::string_view summary;
  std::span<const Option> options;
};

std::span<const Protocol> all_protocols();

}  // namespace resprout::registry

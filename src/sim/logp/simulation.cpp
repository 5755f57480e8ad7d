#include "sim/logp/simulation.hpp"

#include <utility>

#include "sim/logp/simulations.hpp"
#include "sim/revoke/initiators.hpp"

namespace resprout::sim {
namespace {

using registry::ProtocolId;

// One line, or empty. Noise is the LogP engine's: what runs elsewhere has none.
std::string noise_refusal(const Machinery& machinery) {
  const ProtocolId protocol = machinery.spec.protocol;
  const bool is_elsewhere = machinery.spec.detection == registry::Detection::in_band ||
                            protocol == ProtocolId::membership ||
                            protocol == ProtocolId::digest_vote ||
                            protocol == ProtocolId::decision_log;
  if (machinery.model.noise == 0 || !is_elsewhere) return "";
  return "noise: there is none of membership, digest-vote and decision-log, and with "
         "detection=in-band";
}

// One line, or empty if all is in range.
std::string out_of_range(const Machinery& machinery) {
  constexpr Duration ticks_max = Duration{1} << 40;
  const auto wrong = [](const char* name, Duration given, const std::string& valid) {
    return std::string(name) + "=" + std::to_string(given) + " is not " + valid;
  };
  if (machinery.procs < 1 || machinery.procs > 1 << 26)
    return wrong("procs", machinery.procs, "from 1 to 67108864");
  if (machinery.model.latency < 0 || machinery.model.latency > ticks_max)
    return wrong("latency", machinery.model.latency, "from 0 to 2^40");
  if (machinery.model.overhead < 1 || machinery.model.overhead > ticks_max)
    return wrong("overhead", machinery.model.overhead, "from 1 to 2^40");
  if (machinery.model.gap < 0 || machinery.model.gap > ticks_max)
    return wrong("gap", machinery.model.gap, "from 0 to 2^40");
  const std::int32_t root = index(machinery.root);
  if (root < 0 || root >= machinery.procs)
    return wrong("root", root, "from 0 to " + std::to_string(machinery.procs - 1));
  if (machinery.spec.protocol == ProtocolId::shared_slots)
    return "shared-slots: they have no messages, and no time here; `resprout_explore` and "
           "`resprout_swarm` run them";
  if (machinery.spec.protocol == ProtocolId::link_watch)
    return "link-watch: it has a world of its own; `resprout_explore` and `resprout_swarm` run it";
  if (registry::is_allreduce(machinery.spec.protocol) && root != 0)
    return wrong("root", root, "0: an allreduce has no root");
  if (machinery.spec.protocol == ProtocolId::membership) {
    if (root != 0) return wrong("root", root, "0: the lowest member is the root");
    const bool is_local = machinery.spec.has_local_views;
    const std::int32_t procs_max = is_local ? local_memberships_max : memberships_max;
    if (machinery.procs > procs_max)
      return wrong(
          "procs", machinery.procs,
          "from 1 to " + std::to_string(procs_max) + (is_local ? "" : "; views=local allows more"));
    if (machinery.wants_trace) return "trace: there is none of membership";
  }
  if (machinery.spec.protocol == ProtocolId::digest_vote) {
    const std::int32_t degree = machinery.spec.degree;
    if (root != 0) return wrong("root", root, "0: every rank sends to the next one");
    if (machinery.procs < 2 * degree || machinery.procs % degree != 0)
      return wrong("procs", machinery.procs,
                   "a multiple of the degree, " + std::to_string(2 * degree) + " at least");
    if (machinery.wants_trace) return "trace: there is none of digest-vote";
  }
  if (machinery.spec.protocol == ProtocolId::decision_log) {
    const std::int32_t degree = machinery.spec.degree;
    if (root != 0) return wrong("root", root, "0: the lowest replica leads");
    if (machinery.procs % degree != 0)
      return wrong("procs", machinery.procs, "a multiple of the degree, " + std::to_string(degree));
    if (machinery.wants_trace) return "trace: there is none of decision-log";
  }
  if (machinery.spec.protocol == ProtocolId::revoke) {
    auto initiators = parse_initiators(machinery.initiators, machinery.procs, machinery.root);
    if (auto* refusal = std::get_if<std::string>(&initiators)) return std::move(*refusal);
    const bool is_timed = machinery.initiators.find('@') != std::string::npos;
    if (machinery.spec.plan != registry::Plan::none && is_timed)
      return "initiators: with a plan they revoke after its 4th operation; give no times";
  } else if (machinery.initiators != root_revokes) {
    return "initiators: only processes of revoke revoke";
  }
  const bool is_in_band = machinery.spec.detection == registry::Detection::in_band;
  if (machinery.entries.kind != Entries::Kind::together && !is_in_band)
    return "late: only processes of a protocol with detection=in-band enter late";
  if (machinery.spec.polling == registry::Polling::simulated && !is_in_band)
    return "polling: simulated needs detection=in-band";
  if (is_in_band && machinery.wants_trace)
    return "trace: there is none of a protocol with detection=in-band";
  if (is_in_band && machinery.model.latency % machinery.model.overhead != 0)
    return wrong("latency", machinery.model.latency,
                 "a multiple of overhead, as detection=in-band needs");
  return noise_refusal(machinery);
}

// Dissemination over one tree, which takes a table or may not fit the number of processes.
bool has_tree(ProtocolId protocol) {
  return protocol != ProtocolId::ftco_allreduce && protocol != ProtocolId::ftco_reduce &&
         protocol != ProtocolId::ftco_broadcast && protocol != ProtocolId::corrected_gossip &&
         protocol != ProtocolId::reliable_gossip && protocol != ProtocolId::multi_tree &&
         protocol != ProtocolId::membership && protocol != ProtocolId::native_until_loss &&
         protocol != ProtocolId::digest_vote && protocol != ProtocolId::decision_log &&
         protocol != ProtocolId::revoke && protocol != ProtocolId::shared_slots &&
         protocol != ProtocolId::agree && protocol != ProtocolId::link_watch;
}

}  // namespace

std::string Simulation::defect(const Machinery& machinery) {
  std::string wrong = out_of_range(machinery);
  if (!wrong.empty() || !has_tree(machinery.spec.protocol)) return wrong;
  auto tree = registry::make_tree(machinery.spec, machinery.procs, machinery.model.latency,
                                  machinery.model.overhead, machinery.model.gap);
  if (auto* refusal = std::get_if<std::string>(&tree)) wrong = std::move(*refusal);
  return wrong;
}

std::variant<std::unique_ptr<Simulation>, std::string> Simulation::make(
    const Machinery& machinery) {
  if (const std::string wrong = out_of_range(machinery); !wrong.empty()) return wrong;
  if (machinery.spec.detection == registry::Detection::in_band) return make_in_band(machinery);
  if (!machinery.wants_digest) {
    if (Made computed = make_exact(machinery)) return computed;
  }
  switch (machinery.spec.protocol) {
    case ProtocolId::ftco_allreduce:
    case ProtocolId::ftco_reduce:
    case ProtocolId::ftco_broadcast:
      return make_reduction(machinery);
    case ProtocolId::native_until_loss:
      return make_native_until_loss(machinery);
    case ProtocolId::agree:
      return make_agree(machinery);
    case ProtocolId::corrected_gossip:
      return make_corrected_gossip(machinery);
    case ProtocolId::reliable_gossip:
      return make_reliable_gossip(machinery);
    case ProtocolId::multi_tree:
      return make_multi_tree(machinery);
    case ProtocolId::membership:
      return make_membership(machinery);
    case ProtocolId::digest_vote:
      return make_digest_vote(machinery);
    case ProtocolId::decision_log:
      return make_decision_log(machinery);
    case ProtocolId::revoke:
      return make_revoke(machinery);
    default:
      break;  // those over one tree
  }
  auto tree = registry::make_tree(machinery.spec, machinery.procs, machinery.model.latency,
                                  machinery.model.overhead, machinery.model.gap);
  if (auto* wrong = std::get_if<std::string>(&tree)) return std::move(*wrong);
  auto owned = std::get<registry::OwnedTree>(std::move(tree));
  switch (machinery.spec.protocol) {
    case ProtocolId::reliable_broadcast:
      return make_reliable_broadcast(machinery, std::move(owned));
    case ProtocolId::acknowledged_tree:
      return make_acknowledged_tree(machinery, std::move(owned));
    case ProtocolId::corrected_reduce:
      return make_corrected_reduce(machinery, std::move(owned));
    default:
      return make_corrected_tree(machinery, std::move(owned));
  }
}

}  // namespace resprout::sim

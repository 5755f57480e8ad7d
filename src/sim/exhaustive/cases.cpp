// See cases.hpp.
#include "sim/exhaustive/cases.hpp"

#include <bit>

#include "protocols/acknowledged_tree/acknowledged_tree.hpp"
#include "protocols/agreement/agreement.hpp"
#include "protocols/corrected_gossip/corrected_gossip.hpp"
#include "protocols/corrected_reduce/corrected_reduce.hpp"
#include "protocols/corrected_tree/corrected_tree.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "protocols/multi_tree/multi_tree.hpp"
#include "protocols/native_until_loss/native_until_loss.hpp"
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"
#include "registry/ftco.hpp"
#include "registry/trees.hpp"
#include "sim/adversary/defects.hpp"
#include "sim/checkers/agreement.hpp"
#include "sim/checkers/coloring.hpp"
#include "sim/checkers/revocation.hpp"
#include "sim/exhaustive/decision_log_case.hpp"
#include "sim/exhaustive/digest_vote_case.hpp"
#include "sim/exhaustive/examine.hpp"
#include "sim/exhaustive/links_case.hpp"
#include "sim/exhaustive/membership_case.hpp"
#include "sim/exhaustive/shared_slots_case.hpp"
#include "sim/revoke/revoker.hpp"

namespace resprout::sim {
namespace {

using namespace protocols;  // NOLINT(google-build-using-namespace): one case for each of them
using registry::ProtocolId;
using registry::Spec;

// A case that has been understood.
struct Task {
  const Case& given;
  Spec spec;

  // From all starts that the case allows. check(outcomes, dead) says what promise is broken;
  // `dead` (bit i: rank i) have been dead from the start.
  template <Machine M, typename Config, typename Check>
  Finding run(const Config& config, const std::vector<Payload>& inputs, int fold_root,
              const Check& check, Folding folding = Folding::in_order) const {
    std::vector<M> machines;
    for (int rank = 0; rank < given.procs; ++rank) machines.emplace_back(config, rank_at(rank));
    Finding finding;
    for (std::uint64_t dead = 0; dead < std::uint64_t{1} << given.procs; ++dead) {
      if (std::popcount(dead) != given.dead || (dead >> given.root & 1) != 0) continue;
      World<M> start(machines, inputs, fold_root, folding);
      prepare(start, dead);
      Limits limits = given.limits;
      limits.mischief.crashes += std::popcount(dead);
      const auto check_now = [&](std::span<const Outcome> outcomes) {
        return check(outcomes, dead);
      };
      if (!examine(start, given, limits, check_now, finding)) break;
    }
    return finding;
  }

  template <Machine M>
  void prepare(World<M>& start, std::uint64_t dead) const {
    if (given.offers) start.offer_corrections();
    for (int rank = 0; rank < given.procs; ++rank)
      if ((dead >> rank & 1) != 0)
        start.apply({ActionKind::crash, static_cast<std::uint8_t>(rank)});
    if (given.enters_late) return;
    for (int rank = 0; rank < given.procs; ++rank)
      if (start.is_alive(rank)) start.apply({ActionKind::enter, static_cast<std::uint8_t>(rank)});
  }

  // Each process's own bit, in the order of folding that begins with the root.
  std::vector<Payload> own_inputs() const {
    std::vector<Payload> inputs(static_cast<std::size_t>(given.procs));
    for (int i = 0; i < given.procs; ++i)
      inputs[static_cast<std::size_t>((given.root + i) % given.procs)].contributors =
          std::uint64_t{1} << i;
    return inputs;
  }

  // Only the root's bit.
  std::vector<Payload> root_input() const {
    std::vector<Payload> inputs(static_cast<std::size_t>(given.procs));
    inputs[static_cast<std::size_t>(given.root)].contributors = std::uint64_t{1} << given.root;
    return inputs;
  }

  registry::OwnedTree tree() const {
    return std::get<registry::OwnedTree>(registry::make_tree(spec, given.procs, 2, 1));
  }

  // The check of a broadcast that colors everybody, while the root lives, if must(dead).
  template <typename Must>
  auto broadcast_check(Must must) const {
    return [=, root = static_cast<std::size_t>(given.root)](std::span<const Outcome> outcomes,
                                                            std::uint64_t dead) {
      return check_broadcast(outcomes, root, must(dead) && outcomes[root].is_survivor);
    };
  }
};

Finding explore_allreduce(const Task& task, bool everywhere) {
  const FtcoAllreduceConfig config =
      registry::ftco_config(task.spec, task.given.procs, rank_at(task.given.root));
  const Folding folding = config.roots > 1 ? Folding::once : Folding::in_order;
  const auto inputs = task.own_inputs();
  const int root = task.given.root;
  const auto check = [everywhere](std::span<const Outcome> outcomes, std::uint64_t) {
    return everywhere ? check_allreduce(outcomes) : check_reduce(outcomes);
  };
  const std::string& defect = task.given.defect;
  if (defect == "promise")
    return task.run<WithoutPromise<FtcoAllreduce>>(config, inputs, root, check, folding);
  if (defect == "memory")
    return task.run<WithoutMemory<FtcoAllreduce>>(config, inputs, root, check, folding);
  if (defect == "suspicions")
    return task.run<WithoutSuspicions<FtcoAllreduce>>(config, inputs, root, check, folding);
  return task.run<FtcoAllreduce>(config, inputs, root, check, folding);
}

Finding explore_native_until_loss(const Task& task) {
  const NativeUntilLossConfig config(task.given.procs, task.spec.k);
  const auto check = [](std::span<const Outcome> outcomes, std::uint64_t) {
    return check_allreduce(outcomes);
  };
  if (task.given.defect == "memory")
    return task.run<WithoutReturn<NativeUntilLoss>>(config, task.own_inputs(), 0, check);
  if (task.given.defect == "suspicions")
    return task.run<WithoutSuspicions<NativeUntilLoss>>(config, task.own_inputs(), 0, check);
  return task.run<NativeUntilLoss>(config, task.own_inputs(), 0, check);
}

Finding explore_agree(const Task& task) {
  const AgreementConfig config{task.given.procs, task.spec.k};
  const std::vector<Given> given = various_opinions(task.given.procs);
  const std::string& defect = task.given.defect;
  const Reading read = defect == "acknowledgment" ? read_selfishly : read_agreed;
  const auto check = [&](std::span<const Outcome> outcomes, std::uint64_t) {
    return check_agreement(outcomes, given, read);
  };
  const auto inputs = task.own_inputs();
  if (defect == "confirmation") {  // what is left of an agreement without it
    const FtcoAllreduceConfig hasty{config.procs, config.radix, rank_at(0), true};
    return task.run<FtcoAllreduce>(hasty, inputs, 0, check);
  }
  if (defect == "promise") return task.run<WithoutPromise<Agreement, 2>>(config, inputs, 0, check);
  if (defect == "memory") return task.run<WithoutMemory<Agreement>>(config, inputs, 0, check);
  if (defect == "suspicions")
    return task.run<WithoutSuspicions<Agreement>>(config, inputs, 0, check);
  return task.run<Agreement>(config, inputs, 0, check);
}

Finding explore_ftco_broadcast(const Task& task) {
  const FtcoAllreduceConfig config =
      registry::ftco_config(task.spec, task.given.procs, rank_at(task.given.root));
  const auto root = static_cast<std::size_t>(task.given.root);
  const auto check = [root](std::span<const Outcome> outcomes, std::uint64_t) {
    return check_reliable_broadcast(outcomes, root);
  };
  return task.run<FtcoAllreduce>(config, task.root_input(), 0, check);
}

CorrectedTreeConfig tree_config(const Task& task, const topology::Tree& tree) {
  return {.tree = tree,
          .procs = task.given.procs,
          .root = rank_at(task.given.root),
          .correction = task.spec.correction,
          .early = task.spec.early};
}

Finding explore_corrected_tree(const Task& task) {
  const registry::OwnedTree tree = task.tree();
  CorrectedTreeConfig config = tree_config(task, tree.tree);
  config.start = task.spec.start;
  config.correction_start = Time{1};
  const int crashes = task.given.limits.mischief.crashes;
  return task.run<CorrectedTree>(config, task.root_input(), 0,
                                 task.broadcast_check([=](std::uint64_t dead) {
                                   return must_color_everybody(config, dead, crashes);
                                 }));
}

template <Machine M>
Finding explore_reliable(const Task& task, const typename M::Config& config) {
  const auto root = static_cast<std::size_t>(task.given.root);
  const auto check = [root](std::span<const Outcome> outcomes, std::uint64_t) {
    return check_reliable_broadcast(outcomes, root);
  };
  if (task.given.defect == "suspicions")
    return task.run<WithoutSuspicions<M>>(config, task.root_input(), 0, check);
  return task.run<M>(config, task.root_input(), 0, check);
}

Finding explore_reliable_broadcast(const Task& task) {
  const registry::OwnedTree tree = task.tree();
  return explore_reliable<ReliableBroadcast>(task, {tree_config(task, tree.tree), 2, 1});
}

CorrectedGossipConfig gossip_config(const Task& task) {
  return {.procs = task.given.procs,
          .root = rank_at(task.given.root),
          .correction = task.spec.correction,
          .rounds = static_cast<std::uint32_t>(task.spec.gossip.rounds)};
}

Finding explore_corrected_gossip(const Task& task) {
  const CorrectedGossipConfig config = gossip_config(task);
  const bool everybody =
      tolerated_failures(config.correction) >= task.given.limits.mischief.crashes;
  return task.run<CorrectedGossip>(config, task.root_input(), 0,
                                   task.broadcast_check([=](std::uint64_t) { return everybody; }));
}

Finding explore_reliable_gossip(const Task& task) {
  return explore_reliable<ReliableGossip>(task, {gossip_config(task), 2, 1});
}

Finding explore_acknowledged_tree(const Task& task) {
  const registry::OwnedTree tree = task.tree();
  const AcknowledgedTreeConfig config{tree.tree, task.given.procs, rank_at(task.given.root)};
  const bool nobody_dies = task.given.limits.mischief.crashes == 0;
  return task.run<AcknowledgedTree>(
      config, task.root_input(), 0,
      task.broadcast_check([=](std::uint64_t dead) { return nobody_dies && dead == 0; }));
}

Finding explore_multi_tree(const Task& task) {
  const topology::MultiTree trees(task.given.procs, task.spec.trees, task.spec.k);
  const MultiTreeConfig config{trees, task.given.procs, rank_at(task.given.root)};
  const int crashes = task.given.limits.mischief.crashes;
  return task.run<MultiTree>(
      config, task.root_input(), 0, task.broadcast_check([=](std::uint64_t dead) {
        const int failures = crashes + std::popcount(dead);
        return failures == 0 || (failures < trees.trees() && trees.is_disjoint());
      }));
}

Finding explore_corrected_reduce(const Task& task) {
  const registry::OwnedTree tree = task.tree();
  CorrectedReduceConfig config{
      .tree = tree.tree, .procs = task.given.procs, .root = rank_at(task.given.root)};
  config.correction = task.spec.correction;
  config.tree_time = 4;
  config.hop = 1;
  config.spacing = 1;
  const auto check = [](std::span<const Outcome> outcomes, std::uint64_t) {
    return check_timed_reduce(outcomes);
  };
  return task.run<CorrectedReduce>(config, task.own_inputs(), task.given.root, check,
                                   Folding::freely);
}

Finding explore_revoke(const Task& task) {
  const int procs = task.given.procs;
  RevokerConfig config{{procs, task.spec.closes_ring}, {}};
  std::uint64_t initiators = 0;
  for (int rank = 0; rank < procs; ++rank) {
    if ((rank - task.given.root + procs) % procs >= task.given.initiators) continue;
    config.initiators.push_back({rank_at(rank), Time{0}});
    initiators |= std::uint64_t{1} << rank;
  }
  const Reach reach = task.spec.closes_ring ? Reach::detector : Reach::graph;
  const auto check = [=](std::span<const Outcome> outcomes, std::uint64_t) {
    return check_revocation(outcomes, initiators, reach);
  };
  const std::vector<Payload> inputs(static_cast<std::size_t>(procs));
  if (task.given.defect == "forwarding")
    return task.run<WithoutForwarding<Revoker>>(config, inputs, 0, check);
  return task.run<Revoker>(config, inputs, 0, check);
}

// Which protocols can have which rule broken; the empty string, or what is wrong.
std::string refuse_defect(ProtocolId protocol, const std::string& defect) {
  if (defect.empty()) return "";
  const bool is_revoke = protocol == ProtocolId::revoke;
  const bool is_ftco =
      protocol == ProtocolId::ftco_allreduce || protocol == ProtocolId::ftco_reduce;
  const bool is_native = protocol == ProtocolId::native_until_loss;
  const bool is_reliable =
      protocol == ProtocolId::reliable_broadcast || protocol == ProtocolId::reliable_gossip;
  const bool is_agree = protocol == ProtocolId::agree;
  if (defect == "forwarding" && is_revoke) return "";
  if ((defect == "confirmation" || defect == "acknowledgment") && is_agree) return "";
  if (defect == "suspicions" && (is_ftco || is_agree || is_native || is_reliable)) return "";
  if (defect == "memory" && (is_ftco || is_agree || is_native)) return "";
  if (defect == "promise" && (is_ftco || is_agree)) return "";
  return "--defect is suspicions, for ftco-allreduce, ftco-reduce, agree, native-until-loss, "
         "reliable-broadcast and reliable-gossip; memory, for the first four; promise, "
         "for the first three; confirmation or acknowledgment, for agree; or forwarding, "
         "for revoke";
}

}  // namespace

std::string refuse(const Case& given) {
  const auto parsed = registry::parse(given.spec);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) return "--spec: " + *wrong;
  const Spec& spec = std::get<Spec>(parsed);
  const bool is_allreduce =
      registry::is_allreduce(spec.protocol) || spec.protocol == ProtocolId::ftco_reduce;
  if (spec.detection == registry::Detection::in_band)
    return "--spec: detection=in-band needs time, which there is none of here";
  if (given.procs < 1 || given.procs > 8) return "--procs is from 1 to 8";
  if (spec.protocol == ProtocolId::membership && !given.corrupts)
    return refuse_membership(given, spec);
  if (given.joiners != 0 || given.returns != 0 || given.proves || given.probes)
    return "--joiners, --returns, --proofs and --probes are for membership";
  if (spec.protocol == ProtocolId::digest_vote) return refuse_digest_vote(given, spec);
  if (given.corrupts) return "--corruption is for digest-vote: others take no notice of it";
  if (spec.protocol == ProtocolId::decision_log) return refuse_decision_log(given, spec);
  if (spec.protocol == ProtocolId::shared_slots) return refuse_shared_slots(given, spec);
  if (spec.protocol == ProtocolId::link_watch) return refuse_links(given, spec);
  if (given.root < 0 || given.root >= given.procs) return "--root is a rank below --procs";
  if (registry::is_allreduce(spec.protocol) && given.root != 0)
    return "--root is 0 for an allreduce";
  const bool is_reliable = spec.protocol == ProtocolId::reliable_broadcast ||
                           spec.protocol == ProtocolId::reliable_gossip;
  if (given.dead > 0 &&
      (is_allreduce || is_reliable || spec.protocol == ProtocolId::ftco_broadcast))
    return "--dead is for protocols without a detector; others may die with --crashes";
  if (given.offers && !is_reliable)
    return "--offers is for reliable-broadcast and reliable-gossip: others cannot ask for a "
           "payload";
  if (spec.protocol == ProtocolId::corrected_gossip && spec.gossip.rounds == 0)
    return "--spec: gossip that ends by time sends for ever where there is no time; give rounds=";
  const bool is_revoke = spec.protocol == ProtocolId::revoke;
  if (is_revoke && spec.plan != registry::Plan::none)
    return "--spec: a plan is for `resprout sim`; give none";
  if (!is_revoke && given.initiators != 1) return "--initiators is for revoke";
  if (given.initiators < 0 || given.initiators > given.procs)
    return "--initiators is from 0 to --procs";
  return refuse_defect(spec.protocol, given.defect);
}

Finding explore_case(const Case& given) {
  const Task task{given, std::get<Spec>(registry::parse(given.spec))};
  switch (task.spec.protocol) {
    case ProtocolId::ftco_allreduce:
      return explore_allreduce(task, true);
    case ProtocolId::ftco_reduce:
      return explore_allreduce(task, false);
    case ProtocolId::native_until_loss:
      return explore_native_until_loss(task);
    case ProtocolId::agree:
      return explore_agree(task);
    case ProtocolId::ftco_broadcast:
      return explore_ftco_broadcast(task);
    case ProtocolId::reliable_broadcast:
      return explore_reliable_broadcast(task);
    case ProtocolId::reliable_gossip:
      return explore_reliable_gossip(task);
    case ProtocolId::corrected_gossip:
      return explore_corrected_gossip(task);
    case ProtocolId::acknowledged_tree:
      return explore_acknowledged_tree(task);
    case ProtocolId::multi_tree:
      return explore_multi_tree(task);
    case ProtocolId::corrected_reduce:
      return explore_corrected_reduce(task);
    case ProtocolId::membership:
      return explore_membership(given, task.spec);
    case ProtocolId::digest_vote:
      return explore_digest_vote(given, task.spec);
    case ProtocolId::decision_log:
      return explore_decision_log(given, task.spec);
    case ProtocolId::shared_slots:
      return explore_shared_slots(given, task.spec);
    case ProtocolId::link_watch:
      return explore_links(given, task.spec);
    case ProtocolId::revoke:
      return explore_revoke(task);
    case ProtocolId::corrected_tree:
      break;
  }
  return explore_corrected_tree(task);
}

}  // namespace resprout::sim

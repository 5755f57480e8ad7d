// See cases.hpp.
#include "sim/exhaustive/cases.hpp"

#include "protocols/corrected_tree/corrected_tree.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"
#include "sim/adversary/defects.hpp"

namespace resprout::sim {
namespace {

using protocols::CorrectedTree;
using protocols::CorrectedTreeConfig;
using protocols::Correction;
using protocols::FtcoAllreduce;
using protocols::FtcoAllreduceConfig;
using protocols::ReliableBroadcast;
using protocols::ReliableBroadcastConfig;

constexpr const char* correction_names[] = {"none", "opportunistic", "optimized-opportunistic",
                                            "checked"};

int find_correction(const std::string& name) {
  for (int i = 0; i < 4; ++i)
    if (name == correction_names[i]) return i;
  return -1;
}

template <Machine M, typename Config, typename Check>
Finding run(const Case& given, const Config& config, const std::vector<Payload>& inputs,
            int fold_root, const Check& check) {
  std::vector<M> machines;
  for (int rank = 0; rank < given.procs; ++rank) machines.emplace_back(config, rank_at(rank));
  World<M> start(machines, inputs, fold_root);
  if (!given.enters_late)
    for (int rank = 0; rank < given.procs; ++rank)
      start.apply({ActionKind::enter, static_cast<std::uint8_t>(rank)});
  Finding finding{explore(start, given.limits, check), {}};
  if (!finding.exploration.violation.empty())
    finding.shortest = shortest_way(start, given.limits, check);
  return finding;
}

Finding explore_allreduce(const Case& given, bool everywhere) {
  const FtcoAllreduceConfig config{given.procs, given.radix, rank_at(everywhere ? 0 : given.root),
                                   everywhere};
  std::vector<Payload> inputs(static_cast<std::size_t>(given.procs));
  const int fold_root = index(config.root);
  for (int i = 0; i < given.procs; ++i)
    inputs[static_cast<std::size_t>((fold_root + i) % given.procs)].contributors = std::uint64_t{1}
                                                                                   << i;
  const auto check = everywhere ? check_allreduce : check_reduce;
  if (given.defect == "promise")
    return run<WithoutPromise<FtcoAllreduce>>(given, config, inputs, fold_root, check);
  if (given.defect == "memory")
    return run<WithoutMemory<FtcoAllreduce>>(given, config, inputs, fold_root, check);
  if (given.defect == "suspicions")
    return run<WithoutSuspicions<FtcoAllreduce>>(given, config, inputs, fold_root, check);
  return run<FtcoAllreduce>(given, config, inputs, fold_root, check);
}

Finding explore_broadcast(const Case& given, bool is_reliable) {
  CorrectedTreeConfig tree{
      topology::Tree(topology::Shape::binomial, topology::Numbering::interleaved, 2, given.procs),
      given.procs};
  tree.root = rank_at(given.root);
  tree.correction = static_cast<Correction>(find_correction(given.correction));
  tree.distance = 1;
  const auto root = static_cast<std::size_t>(given.root);
  std::vector<Payload> inputs(static_cast<std::size_t>(given.procs));
  inputs[root].contributors = std::uint64_t{1} << root;

  if (!is_reliable) {
    // What the paper promises is about those who died before the correction.
    const bool everybody = given.limits.mischief.crashes == 0;
    const auto check = [=](std::span<const Outcome> outcomes) {
      return check_broadcast(outcomes, root, everybody);
    };
    return run<CorrectedTree>(given, tree, inputs, 0, check);
  }
  const ReliableBroadcastConfig config(tree, given.radix, 1);
  const auto check = [=](std::span<const Outcome> outcomes) {
    return check_reliable_broadcast(outcomes, root);
  };
  if (given.defect == "suspicions")
    return run<WithoutSuspicions<ReliableBroadcast>>(given, config, inputs, 0, check);
  return run<ReliableBroadcast>(given, config, inputs, 0, check);
}

}  // namespace

std::string refuse(const Case& given) {
  const std::string& name = given.protocol;
  const bool is_allreduce = name == "ftco-allreduce" || name == "ftco-reduce";
  if (!is_allreduce && name != "corrected-tree" && name != "reliable-broadcast")
    return "--protocol is one of ftco-allreduce, ftco-reduce, corrected-tree, reliable-broadcast";
  if (given.procs < 1 || given.procs > 8) return "--procs is from 1 to 8";
  if (given.radix < 2) return "--radix is 2 or more";
  if (given.root < 0 || given.root >= given.procs) return "--root is a rank below --procs";
  if (find_correction(given.correction) < 0)
    return "--correction is one of none, opportunistic, optimized-opportunistic, checked";
  const bool is_known = given.defect.empty() || given.defect == "suspicions" ||
                        given.defect == "promise" || given.defect == "memory";
  if (!is_known) return "--defect is one of promise, memory, suspicions";
  const bool is_only_for_allreduce = given.defect == "promise" || given.defect == "memory";
  if (is_only_for_allreduce && !is_allreduce) return "--defect of " + name + ": suspicions";
  return "";
}

Finding explore_case(const Case& given) {
  if (given.protocol == "ftco-allreduce") return explore_allreduce(given, true);
  if (given.protocol == "ftco-reduce") return explore_allreduce(given, false);
  return explore_broadcast(given, given.protocol == "reliable-broadcast");
}

}  // namespace resprout::sim

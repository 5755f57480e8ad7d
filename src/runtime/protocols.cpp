#include "runtime/protocols.hpp"

#include <map>
#include <utility>

#include "core/invariant.hpp"
#include "protocols/agreement/agreement.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "protocols/prefix_chain/prefix_chain.hpp"
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"
#include "runtime/mutex.hpp"

namespace resprout::runtime {

using protocols::Agreement;
using protocols::AgreementConfig;
using protocols::CorrectedGossipConfig;
using protocols::CorrectedTreeConfig;
using protocols::FtcoAllreduce;
using protocols::FtcoAllreduceConfig;
using protocols::PrefixChain;
using protocols::PrefixChainConfig;
using protocols::ReliableBroadcast;
using protocols::ReliableGossip;

namespace {

// The tables of a Lame tree. Made once for each size, and kept: operations refer to them.
const topology::Growth& lame_growth(std::int32_t procs, std::int32_t order) {
  static Mutex mutex;
  // Never destroyed: operations may come after all exit handlers.
  static auto& known = *new std::map<std::pair<std::int32_t, std::int32_t>, topology::Growth>;
  const MutexLock guard(mutex);
  const auto found = known.try_emplace({procs, order}, topology::Growth::lame(procs, order)).first;
  RESPROUT_INVARIANT(found->second.is_complete());
  return found->second;
}

topology::Tree tree_of(const BroadcastSpec& spec, std::int32_t procs) {
  if (spec.shape == topology::Shape::grown) return {lame_growth(procs, spec.arity), procs};
  return {spec.shape, spec.numbering, spec.arity, procs};
}

template <Machine M, typename Dissemination>
std::unique_ptr<Operation> make_reliable(Operation::Setup setup, const Dissemination& dissemination,
                                         const BroadcastSpec& spec) {
  using Config = typename M::Config;
  const bool is_star = spec.is_star(setup.members->size());
  const ReduceSpec settlement = is_star ? ReduceSpec::star() : ReduceSpec{};
  const Config config(dissemination, settlement.radix, spec.patience_ns);
  return std::make_unique<OperationOf<M, Config>>(std::move(setup), config);
}

// Each operation's gossip goes other ways, whatever they are.
std::unique_ptr<Operation> make_gossip(Operation::Setup setup, const BroadcastSpec& spec,
                                       Rank root) {
  const CorrectedGossipConfig gossip{.procs = setup.members->size(),
                                     .root = root,
                                     .correction = spec.correction,
                                     .rounds = spec.gossip_rounds,
                                     .until = Time{},
                                     .seed = setup.number};
  return make_reliable<ReliableGossip>(std::move(setup), gossip, spec);
}

}  // namespace

std::unique_ptr<Operation> make_allreduce(Operation::Setup setup, const ReduceSpec& spec,
                                          Rank root) {
  setup.folds_pairwise = spec.is_star(setup.members->size());
  const FtcoAllreduceConfig config{setup.members->size(), spec.radix, root, true};
  return std::make_unique<OperationOf<FtcoAllreduce, FtcoAllreduceConfig>>(std::move(setup),
                                                                           config);
}

std::unique_ptr<Operation> make_agreement(Operation::Setup setup, const ReduceSpec& spec) {
  const AgreementConfig config{setup.members->size(), spec.radix};
  return std::make_unique<OperationOf<Agreement, AgreementConfig>>(std::move(setup), config);
}

std::unique_ptr<Operation> make_reduce(Operation::Setup setup, const ReduceSpec& spec, Rank root) {
  setup.folds_pairwise = spec.is_star(setup.members->size());
  const FtcoAllreduceConfig config{setup.members->size(), spec.radix, root, false};
  return std::make_unique<OperationOf<FtcoAllreduce, FtcoAllreduceConfig>>(std::move(setup),
                                                                           config);
}

std::unique_ptr<Operation> make_prefix_chain(Operation::Setup setup, bool is_summed) {
  const PrefixChainConfig config{setup.members->size(), is_summed};
  return std::make_unique<OperationOf<PrefixChain, PrefixChainConfig>>(std::move(setup), config);
}

std::unique_ptr<Operation> make_broadcast(Operation::Setup setup, const BroadcastSpec& spec,
                                          Rank root) {
  const std::int32_t procs = setup.members->size();
  if (spec.gossip_rounds != 0) return make_gossip(std::move(setup), spec, root);
  const CorrectedTreeConfig tree{tree_of(spec, procs),
                                 procs,
                                 root,
                                 spec.correction,
                                 protocols::StartMode::overlapped,
                                 Time{},
                                 spec.early};
  return make_reliable<ReliableBroadcast>(std::move(setup), tree, spec);
}

}  // namespace resprout::runtime

#include "runtime/protocols.hpp"

#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"

namespace resprout::runtime {

using protocols::CorrectedTreeConfig;
using protocols::FtcoAllreduce;
using protocols::FtcoAllreduceConfig;
using protocols::ReliableBroadcast;
using protocols::ReliableBroadcastConfig;

namespace {

// How long an uncolored process waits, while somebody is suspected, before it asks the root. The
// root may be late; asking it costs it a payload for nothing if the tree was merely slow.
constexpr Duration patience_ns = 1000000;

}  // namespace

std::unique_ptr<Operation> make_allreduce(Operation::Setup setup, const ReduceSpec& spec) {
  const FtcoAllreduceConfig config{setup.members->size(), spec.radix, rank_at(0), true};
  return std::make_unique<OperationOf<FtcoAllreduce, FtcoAllreduceConfig>>(std::move(setup),
                                                                           config);
}

std::unique_ptr<Operation> make_reduce(Operation::Setup setup, const ReduceSpec& spec, Rank root) {
  const FtcoAllreduceConfig config{setup.members->size(), spec.radix, root, false};
  return std::make_unique<OperationOf<FtcoAllreduce, FtcoAllreduceConfig>>(std::move(setup),
                                                                           config);
}

std::unique_ptr<Operation> make_broadcast(Operation::Setup setup, const BroadcastSpec& spec,
                                          Rank root) {
  const std::int32_t procs = setup.members->size();
  const CorrectedTreeConfig tree{topology::Tree(spec.shape, spec.numbering, spec.arity, procs),
                                 procs,
                                 root,
                                 spec.correction,
                                 protocols::StartMode::overlapped,
                                 Time{},
                                 spec.early};
  const ReliableBroadcastConfig config(tree, 2, patience_ns);
  return std::make_unique<OperationOf<ReliableBroadcast, ReliableBroadcastConfig>>(std::move(setup),
                                                                                   config);
}

}  // namespace resprout::runtime

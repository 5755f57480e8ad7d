#include "runtime/protocols.hpp"

#include "protocols/ftco_allreduce/ftco_allreduce.hpp"

namespace resprout::runtime {

using protocols::FtcoAllreduce;
using protocols::FtcoAllreduceConfig;

std::unique_ptr<Operation> make_allreduce(Operation::Setup setup, const ReduceSpec& spec) {
  const FtcoAllreduceConfig config{setup.members->size(), spec.radix, rank_at(0), true};
  return std::make_unique<OperationOf<FtcoAllreduce, FtcoAllreduceConfig>>(std::move(setup), config);
}

std::unique_ptr<Operation> make_reduce(Operation::Setup setup, const ReduceSpec& spec, Rank root) {
  const FtcoAllreduceConfig config{setup.members->size(), spec.radix, root, false};
  return std::make_unique<OperationOf<FtcoAllreduce, FtcoAllreduceConfig>>(std::move(setup), config);
}

}  // namespace resprout::runtime

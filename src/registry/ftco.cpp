#include "registry/ftco.hpp"

#include <algorithm>

namespace resprout::registry {

using topology::RangeShape;

protocols::FtcoAllreduceConfig ftco_config(const Spec& spec, std::int32_t procs, Rank root) {
  protocols::FtcoAllreduceConfig config{procs, spec.k, root,
                                        spec.protocol != ProtocolId::ftco_reduce};
  if (spec.tree == TreeKind::kary) config.shape = RangeShape::kary;
  if (spec.has_many_roots) config.roots = std::min(spec.k, procs);
  // What is compared with the paper's figures has the paper's k-nomial trees, the largest subtree
  // first.
  const bool is_published = spec.has_many_roots || spec.detection == Detection::in_band;
  if (spec.tree == TreeKind::knomial && is_published) config.shape = RangeShape::knomial;
  config.is_broadcast = spec.protocol == ProtocolId::ftco_broadcast;
  return config;
}

}  // namespace resprout::registry

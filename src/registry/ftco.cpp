#include "registry/ftco.hpp"

#include <algorithm>
#include <bit>

namespace resprout::registry {

using topology::RangeShape;

protocols::FtcoAllreduceConfig ftco_config(const Spec& spec, std::int32_t procs, Rank root) {
  protocols::FtcoAllreduceConfig config{procs, spec.k, root,
                                        spec.protocol != ProtocolId::ftco_reduce};
  if (spec.tree == TreeKind::kary) config.shape = RangeShape::kary;
  if (spec.roots == Roots::multi) config.roots = std::min(spec.k, procs);
  if (spec.roots == Roots::doubling) {
    config.roots = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(procs)));
    config.is_doubling = true;
  }
  // What is compared with the paper's figures has the paper's k-nomial trees, the largest subtree
  // first.
  const bool is_published = spec.roots == Roots::multi || spec.detection == Detection::in_band;
  if (spec.tree == TreeKind::knomial && is_published) config.shape = RangeShape::knomial;
  config.is_broadcast = spec.protocol == ProtocolId::ftco_broadcast;
  return config;
}

}  // namespace resprout::registry

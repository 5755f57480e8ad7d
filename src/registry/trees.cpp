#include "registry/trees.hpp"

#include <utility>

namespace resprout::registry {

using topology::Growth;
using topology::Shape;
using topology::Tree;

Shape shape_of(TreeKind kind) {
  switch (kind) {
    case TreeKind::binomial:
      return Shape::binomial;
    case TreeKind::kary:
      return Shape::kary;
    case TreeKind::knomial:
      return Shape::knomial;
    case TreeKind::lame:
    case TreeKind::optimal:
      break;
  }
  return Shape::grown;
}

std::variant<OwnedTree, std::string> make_tree(const Spec& spec, std::int32_t procs,
                                               Duration latency, Duration overhead, Duration gap) {
  const Shape shape = shape_of(spec.tree);
  if (shape != Shape::grown) return OwnedTree{Tree(shape, spec.numbering, spec.k, procs), nullptr};
  auto growth = std::make_unique<const Growth>(
      spec.tree == TreeKind::lame ? Growth::lame(procs, spec.k)
                                  : Growth::optimal(procs, latency, overhead, gap));
  if (!growth->is_complete())
    return std::string(spec.tree == TreeKind::lame ? "tree=lame: k is" : "tree=optimal: L/o is") +
           " too large for " + std::to_string(procs) + " processes";
  return OwnedTree{Tree(*growth, procs), std::move(growth)};
}

}  // namespace resprout::registry

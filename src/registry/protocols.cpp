// The list of all protocols: the one place where a new one is entered.
#include "registry/spec.hpp"

namespace resprout::registry {
namespace {

void set_tree(Spec& spec, std::int32_t value) { spec.tree = static_cast<TreeKind>(value); }
void set_k(Spec& spec, std::int32_t value) { spec.k = value; }
void set_numbering(Spec& spec, std::int32_t value) {
  spec.numbering = static_cast<topology::Numbering>(value);
}
void set_correction(Spec& spec, std::int32_t value) {
  spec.correction = static_cast<protocols::Correction>(value);
}
void set_distance(Spec& spec, std::int32_t value) { spec.distance = value; }
void set_start(Spec& spec, std::int32_t value) {
  spec.start = static_cast<protocols::StartMode>(value);
}
void set_early(Spec& spec, std::int32_t value) {
  spec.early = static_cast<protocols::EarlyPolicy>(value);
}
void set_knomial(Spec& spec, std::int32_t) { spec.tree = TreeKind::knomial; }

constexpr std::string_view corrections = "none|opportunistic|optimized-opportunistic|checked";
constexpr std::string_view arities = "1..1048576";

constexpr Option k{"k", arities, "2",
                   "arity of the k-ary, radix of the k-nomial, order of the Lame tree", set_k};
constexpr Option numbering{"numbering", "interleaved|in-order", "interleaved",
                           "neighbors on the ring in different subtrees, or in the same",
                           set_numbering};
constexpr Option early{"early", "join|abstain", "join",
                       "overlapped: whether who was colored by a correction corrects too",
                       set_early};

constexpr Option corrected_tree_options[] = {
    {"tree", "binomial|kary|knomial|lame|optimal", "binomial", "shape of the tree", set_tree},
    k,
    numbering,
    {"correction", corrections, "checked", "how the ring is corrected", set_correction},
    {"d", "1..1048576", "4", "opportunistic: how far to each side", set_distance},
    {"start", "synchronized|overlapped", "synchronized",
     "correction at one time everywhere, or right after a process's tree messages", set_start},
    early,
};

constexpr Option reliable_broadcast_options[] = {
    {"tree", "binomial|kary|knomial", "binomial", "shape of the tree", set_tree},
    k,
    numbering,
    {"correction", corrections, "optimized-opportunistic", "how the ring is corrected",
     set_correction},
    {"d", "1..1048576", "1", "opportunistic: how far to each side", set_distance},
    early,
};

constexpr Option ftco_options[] = {
    {"tree", "knomial", "knomial", "shape of the tree", set_knomial},
    {"k", "2..1048576", "2", "radix of the tree", set_k},
};

constexpr Protocol all[] = {
    {"corrected-tree", ProtocolId::corrected_tree, "broadcast",
     "down a tree, then corrected on the ring; needs no failure detector", corrected_tree_options},
    {"reliable-broadcast", ProtocolId::reliable_broadcast, "broadcast",
     "a corrected tree, settled by agreement if the root dies", reliable_broadcast_options},
    {"ftco-allreduce", ProtocolId::ftco_allreduce, "allreduce",
     "up a tree and down again, around the dead; any process may die", ftco_options},
    {"ftco-reduce", ProtocolId::ftco_reduce, "reduce", "up a tree to the root, around the dead",
     ftco_options},
};

}  // namespace

std::span<const Protocol> all_protocols() { return all; }

}  // namespace resprout::registry

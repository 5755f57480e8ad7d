// The list of all protocols: the one place where a new one is entered.
#include "registry/spec.hpp"

namespace resprout::registry {
namespace {

void set_tree(Spec& spec, std::int32_t value) { spec.tree = static_cast<TreeKind>(value); }
void set_k(Spec& spec, std::int32_t value) { spec.k = value; }
void set_radix(Spec& spec, std::int32_t value) { spec.k = 2 << value; }
void set_numbering(Spec& spec, std::int32_t value) {
  spec.numbering = static_cast<topology::Numbering>(value);
}
void set_correction(Spec& spec, std::int32_t value) {
  spec.correction.kind = static_cast<protocols::Correction>(value);
}
void set_distance(Spec& spec, std::int32_t value) { spec.correction.distance = value; }
void set_sides(Spec& spec, std::int32_t value) {
  spec.correction.sides = static_cast<protocols::Sides>(value);
}
void set_heed(Spec& spec, std::int32_t value) {
  spec.correction.heed = static_cast<protocols::Heed>(value);
}
void set_failures(Spec& spec, std::int32_t value) { spec.correction.failures = value; }
void set_delay(Spec& spec, std::int32_t value) { spec.correction.delay = value; }
void set_start(Spec& spec, std::int32_t value) {
  spec.start = static_cast<protocols::StartMode>(value);
}
void set_early(Spec& spec, std::int32_t value) {
  spec.early = static_cast<protocols::EarlyPolicy>(value);
}
void set_gossip_time(Spec& spec, std::int32_t value) { spec.gossip.time = value; }
void set_gossip_rounds(Spec& spec, std::int32_t value) { spec.gossip.rounds = value; }
void set_late(Spec& spec, std::int32_t value) {
  spec.gossip.late = static_cast<protocols::Late>(value);
}
void set_trees(Spec& spec, std::int32_t value) { spec.trees = value; }
void set_opportunistic(Spec& spec, std::int32_t value) {
  spec.correction.kind = protocols::Correction::opportunistic;
  spec.correction.distance = value;
}
void set_range_tree(Spec& spec, std::int32_t value) {
  spec.tree = value == 0 ? TreeKind::knomial : TreeKind::kary;
}
void set_roots(Spec& spec, std::int32_t value) { spec.roots = static_cast<Roots>(value); }
void set_detection(Spec& spec, std::int32_t value) {
  spec.detection = static_cast<Detection>(value);
}
void set_service(Spec& spec, std::int32_t value) {
  spec.service = static_cast<protocols::Service>(value);
}
void set_vote_method(Spec& spec, std::int32_t value) {
  spec.vote_method = static_cast<protocols::VoteMethod>(value);
}
void set_unproven(Spec& spec, std::int32_t value) {
  spec.unproven = static_cast<protocols::Unproven>(value);
}
void set_corruption(Spec& spec, std::int32_t value) { spec.is_corrupted = value == 1; }
void set_degree(Spec& spec, std::int32_t value) { spec.degree = 2 + value; }
void set_window(Spec& spec, std::int32_t value) { spec.window = value; }
void set_decisions(Spec& spec, std::int32_t value) { spec.decisions = value; }
void set_polling(Spec& spec, std::int32_t value) { spec.polling = static_cast<Polling>(value); }

void set_views(Spec& spec, std::int32_t value) { spec.has_local_views = value == 1; }
void set_ring(Spec& spec, std::int32_t value) { spec.closes_ring = value == 0; }
void set_plan(Spec& spec, std::int32_t value) { spec.plan = static_cast<Plan>(value); }
void set_broadcasts(Spec& spec, std::int32_t value) { spec.broadcasts = 1 << value; }
void set_operations(Spec& spec, std::int32_t value) { spec.operations = value; }
void set_revoked(Spec& spec, std::int32_t value) { spec.may_be_revoked = value == 1; }
void set_gathers(Spec& spec, std::int32_t value) {
  spec.shared_slots.gathers = static_cast<Gathers>(value);
}
void set_groups(Spec& spec, std::int32_t value) {
  spec.shared_slots.group = value == 0 ? 0 : 1 << value;
}
void set_over(Spec& spec, std::int32_t value) { spec.shared_slots.runs_again = value == 1; }
void set_cut(Spec& spec, std::int32_t value) { spec.links.cut = static_cast<CutKind>(value); }
void set_cuts(Spec& spec, std::int32_t value) { spec.links.cuts = value; }
void set_late_units(Spec& spec, std::int32_t value) { spec.links.late_units = value; }
void set_hosts(Spec& spec, std::int32_t value) { spec.links.ranks_per_host = 1 + value; }
void set_operation(Spec& spec, std::int32_t value) { spec.operation = value; }

constexpr std::string_view corrections =
    "none|opportunistic|optimized-opportunistic|checked|failure-proof|delayed";
constexpr std::string_view arities = "1..1048576";

constexpr Option k{"k", arities, "2",
                   "arity of the k-ary, radix of the k-nomial, order of the Lame tree", set_k};
constexpr Option numbering{"numbering", "interleaved|in-order", "interleaved",
                           "neighbors on the ring in different subtrees, or in the same",
                           set_numbering};
constexpr Option sides{"sides", "both|right", "both",
                       "opportunistic: to both sides, or to the right only", set_sides};
constexpr Option heed{"heed", "both|right", "both",
                      "optimized-opportunistic: whose messages make others needless", set_heed};
constexpr Option failures{"f", "1..1048576", "3",
                          "failure-proof: how many may die while they correct", set_failures};
constexpr Option delay{"delay", "0..1000000000", "0",
                       "delayed: ticks of patience beyond the time of a message", set_delay};
constexpr Option early{"early", "join|abstain", "join",
                       "overlapped: whether who was colored by a correction corrects too",
                       set_early};

constexpr Option any_tree{"tree", "binomial|kary|knomial|lame|optimal", "binomial",
                          "shape of the tree", set_tree};

constexpr Option corrected_tree_options[] = {
    any_tree,
    k,
    numbering,
    {"correction", corrections, "checked", "how the ring is corrected", set_correction},
    {"d", "1..1048576", "4", "opportunistic: how far to each side", set_distance},
    sides,
    heed,
    failures,
    delay,
    {"start", "synchronized|overlapped", "synchronized",
     "correction at one time everywhere, or right after a process's tree messages", set_start},
    early,
};

constexpr Option reliable_broadcast_options[] = {
    {"tree", "binomial|kary|knomial|lame", "binomial", "shape of the tree", set_tree},
    k,
    numbering,
    {"correction", corrections, "optimized-opportunistic", "how the ring is corrected",
     set_correction},
    {"d", "1..1048576", "1", "opportunistic: how far to each side", set_distance},
    sides,
    heed,
    failures,
    delay,
    early,
};

constexpr Option ftco_tree{"tree", "knomial|kary", "knomial", "shape of the tree", set_range_tree};
constexpr Option ftco_k{"k", "2..1048576", "2", "radix of the tree", set_k};
constexpr Option ftco_detection{"detection", "suspicion|in-band", "suspicion",
                                "failures are learned from a detector, or in the operation itself",
                                set_detection};
constexpr Option ftco_service{"service", "randomized|intervals", "randomized",
                              "in-band: how a process divides its steps between near and far",
                              set_service};

constexpr Option ftco_allreduce_options[] = {
    ftco_tree,
    ftco_k,
    {"roots", "single|multi|doubling", "single",
     "one root; or, for operators that commute, k that know each other, or the largest power of "
     "two "
     "by recursive doubling",
     set_roots},
    ftco_detection,
    ftco_service,
    {"polling", "written|simulated", "written",
     "in-band: as the paper writes, or, fault-free, as its authors' simulator does", set_polling},
};

constexpr Option ftco_options[] = {ftco_tree, ftco_k, ftco_detection, ftco_service};

constexpr Option native_until_loss_options[] = {
    {"k", "2..1048576", "2", "radix of the trees after a loss; the library's is binomial", set_k},
};

constexpr Option agree_options[] = {ftco_k};

constexpr Option corrected_gossip_options[] = {
    {"time", "1..1048576", "32", "when gossip ends and correction begins", set_gossip_time},
    {"rounds", "0..1048576", "0", "ends gossip instead of the time; 0: the time does",
     set_gossip_rounds},
    {"late", "correct|end", "correct",
     "by time: whether who is reached by gossip after its end corrects, or sends nothing",
     set_late},
    {"correction", corrections, "checked", "how the ring is corrected", set_correction},
    {"d", "1..1048576", "4", "opportunistic: how far to each side", set_distance},
    sides,
    heed,
    failures,
    delay,
};

constexpr Option reliable_gossip_options[] = {
    {"rounds", "1..1048576", "8", "how many messages there are at most in a row",
     set_gossip_rounds},
    {"correction", corrections, "checked", "how the ring is corrected", set_correction},
    {"d", "1..1048576", "4", "opportunistic: how far to each side", set_distance},
    sides,
    heed,
    failures,
    delay,
};

constexpr Option acknowledged_tree_options[] = {any_tree, k, numbering};

constexpr Option multi_tree_options[] = {
    {"trees", "1..64", "2", "how many trees", set_trees},
    {"k", "1..1048576", "4", "arity of the trees; more than there are trees", set_k},
};

constexpr Option corrected_reduce_options[] = {
    any_tree,
    k,
    numbering,
    {"d", "1..1048576", "1", "how far to each side inputs are sent first", set_opportunistic},
};

constexpr Option membership_options[] = {
    {"radix", "2|4|8|16", "2", "how many children a process has", set_radix},
    {"views", "whole|local", "whole",
     "each process keeps the list of the members, or its own neighborhood and their number; local "
     "ones only shrink",
     set_views},
};

constexpr Option digest_vote_options[] = {
    {"method", "all-to-all|msg-plus-hash|async|async-hash", "async-hash",
     "every copy to everybody, or a copy and a digest; given out when compared, or before",
     set_vote_method},
    {"degree", "2|3", "2", "replicas of a rank: 2 detect a corruption, 3 out-vote it", set_degree},
    {"unproven", "first|own", "first",
     "lazy: which copy is given out before anything is proven; own: that of the same replica "
     "number",
     set_unproven},
    {"corruption", "none|sender", "none", "simulated: the send buffer of process 0 is corrupted",
     set_corruption},
};

constexpr Option decision_log_options[] = {
    {"degree", "2|3", "2", "replicas of a rank", set_degree},
    {"window", "1..1048576", "1024", "how many decisions a replica holds at most", set_window},
    {"decisions", "1..1048576", "4", "simulated: how many a program makes", set_decisions},
};

constexpr Option revoke_options[] = {
    {"ring", "closed|open", "closed",
     "whether the ring is closed over the dead, or only the graph's links carry notices", set_ring},
    {"plan", "none|barrier|allreduce", "none",
     "what the program repeats: 4 times, once more until it is revoked, then anew", set_plan},
    {"operation", "-4..32", "0",
     "of the plan: whose latency is measured; 0 is the revoked one, 1 the first one after it",
     set_operation},
};

constexpr Option shared_slots_options[] = {
    {"broadcasts", "1|2|4|8", "2", "slots for broadcasts; behind so many a rendezvous is due",
     set_broadcasts},
    {"operations", "1..8", "3", "explored: how many a program has; all programs are",
     set_operations},
    {"revoked", "never|maybe", "never",
     "explored: whether the communicator is revoked, at any time", set_revoked},
    {"over", "end|again", "end",
     "explored: what is over ends the program, or is run again, and who is left has new shared "
     "slots",
     set_over},
    {"gathers", "none|fresh|met|lacking", "none",
     "explored: programs with gathers, in fresh shared slots, among members that have met, or with "
     "one "
     "that "
     "takes no part",
     set_gathers},
    {"groups", "none|2|4", "none",
     "explored: so many members of a rendezvous are a group, which has a record", set_groups},
};

constexpr Option link_watch_options[] = {
    {"cut", "one-way|link|hosts", "one-way",
     "what is cut: a link one way, both ways, or all links between two hosts", set_cut},
    {"cuts", "0..4", "1", "so many may come", set_cuts},
    {"late", "0..16", "2", "half patiences in which somebody has not entered, or is starved",
     set_late_units},
    {"hosts", "own|shared", "own", "each process has one, or two share one", set_hosts},
};

constexpr Protocol all[] = {
    {"corrected-tree", ProtocolId::corrected_tree, "broadcast",
     "down a tree, then corrected on the ring; needs no failure detector", corrected_tree_options},
    {"reliable-broadcast", ProtocolId::reliable_broadcast, "broadcast",
     "a corrected tree, settled by agreement if the root dies", reliable_broadcast_options},
    {"ftco-allreduce", ProtocolId::ftco_allreduce, "allreduce",
     "up a tree and down again, around the dead; any process may die", ftco_allreduce_options},
    {"ftco-reduce", ProtocolId::ftco_reduce, "reduce", "up a tree to the root, around the dead",
     ftco_options},
    {"ftco-broadcast", ProtocolId::ftco_broadcast, "broadcast",
     "down a tree, around the dead; if nobody alive has the payload it fails everywhere",
     ftco_options},
    {"corrected-gossip", ProtocolId::corrected_gossip, "broadcast",
     "to others at random, then corrected on the ring", corrected_gossip_options},
    {"acknowledged-tree", ProtocolId::acknowledged_tree, "broadcast",
     "down a tree, acknowledged up the tree; nobody may die", acknowledged_tree_options},
    {"multi-tree", ProtocolId::multi_tree, "broadcast",
     "down several trees with different inner nodes at once", multi_tree_options},
    {"corrected-reduce", ProtocolId::corrected_reduce, "reduce",
     "corrected on the ring, then up a tree by the clock; for min, max, and, or",
     corrected_reduce_options},
    {"reliable-gossip", ProtocolId::reliable_gossip, "broadcast",
     "corrected gossip, settled by agreement if the root dies", reliable_gossip_options},
    {"membership", ProtocolId::membership, "view",
     "one agreed view of who is alive, over a radix tree; any process may die", membership_options},
    {"native-until-loss", ProtocolId::native_until_loss, "allreduce",
     "by the library below; a loss is settled by agreement, or all begin again",
     native_until_loss_options},
    {"digest-vote", ProtocolId::digest_vote, "message",
     "from a replicated rank to another: silent corruption is detected or out-voted",
     digest_vote_options},
    {"decision-log", ProtocolId::decision_log, "decisions",
     "what may differ between replicas of a rank: one decides, the others follow",
     decision_log_options},
    {"revoke", ProtocolId::revoke, "revocation",
     "a flood over a binomial graph that interrupts everybody; any process may die",
     revoke_options},
    {"shared-slots", ProtocolId::shared_slots, "calls",
     "over slots in shared memory, without messages; explored, not simulated",
     shared_slots_options},
    {"agree", ProtocolId::agree, "allreduce",
     "up a tree and down again, twice: also who dies afterwards has returned the same",
     agree_options},
    {"link-watch", ProtocolId::link_watch, "links",
     "data links that an operation waits on: which are silent, and who goes; explored, not "
     "simulated",
     link_watch_options},
};

}  // namespace

std::span<const Protocol> all_protocols() { return all; }

}  // namespace resprout::registry

// See spec.hpp and trees.hpp.
#include "registry/spec.hpp"

#include "doctest/doctest.h"
#include "registry/trees.hpp"

using namespace resprout;
using namespace resprout::registry;

namespace {

Spec good(std::string_view text) {
  const auto parsed = parse(text);
  REQUIRE(std::holds_alternative<Spec>(parsed));
  return std::get<Spec>(parsed);
}

std::string wrong(std::string_view text) {
  const auto parsed = parse(text);
  return std::holds_alternative<Spec>(parsed) ? "nothing is wrong" : std::get<std::string>(parsed);
}

}  // namespace

TEST_CASE("a name alone means the defaults") {
  const Spec spec = good("corrected-tree");
  CHECK(spec.protocol == ProtocolId::corrected_tree);
  CHECK(spec.tree == TreeKind::binomial);
  CHECK(spec.k == 2);
  CHECK(spec.correction.kind == protocols::Correction::checked);
  CHECK(spec.correction.distance == 4);
  CHECK(spec.start == protocols::StartMode::synchronized);
}

TEST_CASE("options override defaults, in any order") {
  const Spec spec = good(
      "corrected-tree:start=overlapped,tree=kary,k=4,numbering=in-order,d=3,early=abstain,"
      "correction=optimized-opportunistic");
  CHECK(spec.tree == TreeKind::kary);
  CHECK(spec.k == 4);
  CHECK(spec.numbering == topology::Numbering::in_order);
  CHECK(spec.correction.distance == 3);
  CHECK(spec.start == protocols::StartMode::overlapped);
  CHECK(spec.early == protocols::EarlyPolicy::abstain);
  CHECK(spec.correction.kind == protocols::Correction::optimized_opportunistic);
  CHECK(good("ftco-allreduce:k=8").tree == TreeKind::knomial);
}

TEST_CASE("a wrong spec is answered by one line that names what was given and what is valid") {
  CHECK(wrong("bcast") ==
        "protocol 'bcast' is unknown; there are corrected-tree, reliable-broadcast, "
        "ftco-allreduce, ftco-reduce, ftco-broadcast, corrected-gossip, acknowledged-tree, "
        "multi-tree, corrected-reduce, reliable-gossip, membership, "
        "native-until-loss, digest-vote, decision-log, revoke, shared-slots, agree, link-watch");
  CHECK(wrong("corrected-tree:treee=kary") ==
        "corrected-tree: option 'treee' is unknown; there are tree, k, numbering, correction, d, "
        "sides, heed, f, delay, start, early");
  CHECK(wrong("corrected-tree:tree=oak") ==
        "corrected-tree: tree='oak' is not one of binomial, kary, knomial, lame, optimal");
  CHECK(wrong("corrected-tree:d=0") == "corrected-tree: d='0' is not a number from 1 to 1048576");
  CHECK(wrong("corrected-tree:d=2x") == "corrected-tree: d='2x' is not a number from 1 to 1048576");
  CHECK(wrong("corrected-tree:d") == "corrected-tree: d='' is not a number from 1 to 1048576");
  CHECK(wrong("ftco-allreduce:k=1") == "ftco-allreduce: k='1' is not a number from 2 to 1048576");
  CHECK(wrong("corrected-tree:d=2,d=2") == "corrected-tree: option 'd' is given twice");
  CHECK(wrong("corrected-tree:") ==
        "corrected-tree: option '' is unknown; there are tree, k, numbering, correction, d, sides, "
        "heed, f, delay, start, early");
  CHECK(wrong("reliable-broadcast:start=synchronized").find("'start' is unknown") !=
        std::string::npos);
}

TEST_CASE("what each correction is told") {
  const auto rules = good("corrected-tree:correction=failure-proof,f=5").correction;
  CHECK(rules.kind == protocols::Correction::failure_proof);
  CHECK(rules.failures == 5);
  CHECK(good("reliable-broadcast:correction=delayed,delay=7").correction.delay == 7);
  CHECK(good("corrected-tree:sides=right").correction.sides == protocols::Sides::right);
  CHECK(good("corrected-tree:heed=right").correction.heed == protocols::Heed::right);
}

TEST_CASE("the baselines and the reduce have options of their own") {
  CHECK(good("corrected-gossip:time=17").gossip.time == 17);
  CHECK(good("corrected-gossip:rounds=9").gossip.rounds == 9);
  CHECK(good("corrected-gossip").gossip.late == protocols::Late::correct);
  CHECK(good("corrected-gossip:late=end").gossip.late == protocols::Late::end);
  CHECK(good("reliable-gossip:rounds=9").gossip.rounds == 9);
  CHECK(good("multi-tree:trees=3,k=5").trees == 3);
  CHECK(good("acknowledged-tree:tree=lame,k=3").tree == TreeKind::lame);
  CHECK(good("native-until-loss:k=3").k == 3);
  CHECK(good("agree:k=3").k == 3);
  CHECK(good("corrected-reduce:d=2").correction.distance == 2);
  CHECK(good("membership:radix=8").k == 8);
  CHECK(good("digest-vote").degree == 2);
  CHECK(good("digest-vote:method=async,degree=3").vote_method == protocols::VoteMethod::async);
  CHECK(good("decision-log:window=7,decisions=9").window == 7);
  CHECK(good("decision-log:window=7,decisions=9").decisions == 9);
  CHECK(wrong("decision-log:window=0") ==
        "decision-log: window='0' is not a number from 1 to 1048576");
  CHECK(wrong("digest-vote:degree=4") == "digest-vote: degree='4' is not one of 2, 3");
  CHECK(good("revoke").closes_ring);
  CHECK_FALSE(good("revoke:ring=open").closes_ring);
  CHECK(good("revoke:plan=allreduce,operation=-4").operation == -4);
  CHECK(wrong("revoke:operation=-5") == "revoke: operation='-5' is not a number from -4 to 32");
  CHECK(good("shared-slots:broadcasts=4,operations=5").broadcasts == 4);
  CHECK(good("shared-slots:broadcasts=4,operations=5").operations == 5);
  CHECK(good("shared-slots:revoked=maybe").may_be_revoked);
  CHECK(good("lanes:operations=2") == good("shared-slots:operations=2"));
  CHECK(good("shared-slots:over=again").shared_slots.runs_again);
  CHECK(good("shared-slots:gathers=met").shared_slots.gathers == Gathers::met);
  CHECK(good("shared-slots").shared_slots.group == 0);
  CHECK(good("shared-slots:groups=2").shared_slots.group == 2);
  CHECK(good("shared-slots:groups=4").shared_slots.group == 4);
  CHECK(wrong("shared-slots:broadcasts=3") ==
        "shared-slots: broadcasts='3' is not one of 1, 2, 4, 8");
  CHECK(good("link-watch:cut=hosts,hosts=shared").links.cut == CutKind::hosts);
  CHECK(good("link-watch:cut=hosts,hosts=shared").links.ranks_per_host == 2);
  CHECK(good("link-watch:cuts=0,late=16").links.cuts == 0);
  CHECK(good("link-watch:cuts=0,late=16").links.late_units == 16);
  CHECK(wrong("membership:radix=3") == "membership: radix='3' is not one of 2, 4, 8, 16");
}

TEST_CASE("options that do not go together are refused") {
  CHECK(wrong("multi-tree:trees=4") ==
        "multi-tree: k=4: for 4 trees with different inner nodes it is 5 at least");
  CHECK(wrong("corrected-tree:tree=lame,numbering=in-order").find("interleaved") !=
        std::string::npos);
  CHECK(wrong("corrected-tree:tree=binomial,k=4").find("k=4") != std::string::npos);
  CHECK(wrong("corrected-tree:tree=knomial,k=1").find("k=1") != std::string::npos);
  CHECK(wrong("corrected-gossip:rounds=5,late=end") ==
        "corrected-gossip: late=end: gossip that ends by rounds has no time to be late for; give "
        "time= instead");
  CHECK(wrong("ftco-allreduce:roots=doubling,detection=in-band") ==
        "ftco-allreduce: roots=doubling: with detection=in-band there are one root or k; give "
        "single or multi");
}

TEST_CASE("every value that the list shows is taken, every default is the one that is shown") {
  for (const Protocol& protocol : all_protocols())
    for (const Option& option : protocol.options) {
      const std::string prefix = std::string(protocol.name) + ":" + std::string(option.name) + "=";
      CAPTURE(prefix);
      CHECK(good(prefix + std::string(option.fallback)) == good(protocol.name));
      if (option.values.find("..") != std::string_view::npos) continue;
      std::string_view rest = option.values;
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('|'), rest.size());
        good(prefix + std::string(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
}

TEST_CASE("the tree that a spec asks for") {
  const auto lame = make_tree(good("corrected-tree:tree=lame,k=3"), 9, 2, 1);
  REQUIRE(std::holds_alternative<OwnedTree>(lame));
  CHECK(std::get<OwnedTree>(lame).tree.child(1, 0) == 5);
  const auto kary = make_tree(good("corrected-tree:tree=kary,k=4"), 9, 2, 1);
  CHECK(std::get<OwnedTree>(kary).tree.child(0, 3) == 4);
  const auto huge = make_tree(good("corrected-tree:tree=lame,k=1000"), 1 << 30, 2, 1);
  REQUIRE(std::holds_alternative<std::string>(huge));
  CHECK(std::get<std::string>(huge) == "tree=lame: k is too large for 1073741824 processes");
}

TEST_CASE("a membership keeps whole views unless it is told to keep local ones") {
  CHECK_FALSE(good("membership:radix=4").has_local_views);
  CHECK(good("membership:views=local,radix=4").has_local_views);
  CHECK(good("membership:views=local,radix=4").k == 4);
  CHECK(wrong("membership:views=near") == "membership: views='near' is not one of whole, local");
}

#include "shim/collectives/specs.hpp"

#include <variant>

#include "registry/spec.hpp"
#include "registry/trees.hpp"

namespace resprout::shim {
namespace {

using registry::ProtocolId;
using registry::Spec;
using registry::TreeKind;

// From this size on a broadcast does not send its payload to those who have it already: no
// correction; who is left without asks the root.
constexpr std::size_t correction_bytes_max = std::size_t{16} << 10;

// From this size on the root of a star would combine for so long that a tree is faster.
constexpr std::size_t star_reduce_bytes_max = std::size_t{16} << 10;

struct Chosen {
  bool is_reduce_given = false;
  bool is_broadcast_given = false;
  runtime::ReduceSpec reduce;
  runtime::BroadcastSpec small;
  runtime::BroadcastSpec large;
};

Chosen& chosen() {
  static Chosen instance = [] {
    Chosen defaults;
    defaults.large.correction.kind = protocols::Correction::none;
    return defaults;
  }();
  return instance;
}

// Up to this order a Lame tree's tables hold any number of processes.
constexpr std::int32_t lame_order_max = 64;

// A message takes about so long. It is what `delayed` waits at least for its right neighbor.
constexpr Duration message_ns = 20000;

bool is_gossip(const Spec& spec) {
  return spec.protocol == ProtocolId::corrected_gossip ||
         spec.protocol == ProtocolId::reliable_gossip;
}

// What the simulator can do and a program cannot; empty if there is nothing.
std::string only_simulated(const std::string& text, const Spec& spec) {
  // Synchronized is the simulator's default; here nobody means it who does not say it.
  if (text.find("start=synchronized") != std::string::npos)
    return "option start: 'synchronized' needs a clock that all processes share, which only the "
           "simulator has; valid here: overlapped";
  if (spec.protocol == ProtocolId::corrected_gossip && spec.gossip_rounds == 0)
    return "option time: gossip that ends by time needs a clock that all processes share, which "
           "only the simulator has; valid here: rounds=1 to rounds=1048576";
  if (spec.tree == TreeKind::optimal)
    return "option tree: 'optimal' is built from the simulator's latency and overhead; valid here: "
           "binomial, kary, knomial, lame";
  if (spec.tree == TreeKind::lame && spec.k > lame_order_max)
    return "option k: for a Lame tree it is " + std::to_string(lame_order_max) + " at most";
  return "";
}

std::string choose_broadcast(const std::string& text) {
  const auto parsed = registry::parse(text);
  if (const auto* error = std::get_if<std::string>(&parsed)) return "RESPROUT_BCAST: " + *error;
  const Spec spec = std::get<Spec>(parsed);
  if (!is_gossip(spec) && spec.protocol != ProtocolId::corrected_tree &&
      spec.protocol != ProtocolId::reliable_broadcast)
    return "RESPROUT_BCAST: '" + text +
           "' is no broadcast of programs; valid protocols: corrected-tree, reliable-broadcast, "
           "corrected-gossip, reliable-gossip";
  if (const std::string wrong = only_simulated(text, spec); !wrong.empty())
    return "RESPROUT_BCAST: " + wrong;
  runtime::BroadcastSpec& small = chosen().small;
  small.shape = registry::shape_of(spec.tree);
  small.numbering = spec.numbering;
  small.arity = spec.k;
  small.correction = spec.correction;
  small.correction.delay += message_ns;
  small.early = spec.early;
  if (is_gossip(spec)) small.gossip_rounds = static_cast<std::uint32_t>(spec.gossip_rounds);
  chosen().is_broadcast_given = true;
  chosen().large = small;
  chosen().large.correction.kind = protocols::Correction::none;
  return {};
}

std::string choose_allreduce(const std::string& text) {
  const auto parsed = registry::parse(text);
  if (const auto* error = std::get_if<std::string>(&parsed)) return "RESPROUT_ALLREDUCE: " + *error;
  const Spec spec = std::get<Spec>(parsed);
  if (spec.protocol != ProtocolId::ftco_allreduce)
    return "RESPROUT_ALLREDUCE: '" + text + "' is no allreduce; valid protocols: ftco-allreduce";
  chosen().is_reduce_given = true;
  chosen().reduce.radix = spec.k;
  return {};
}

}  // namespace

std::string choose_specs(const Options& options) {
  std::string error;
  if (!options.bcast.empty()) error = choose_broadcast(options.bcast);
  if (error.empty() && !options.allreduce.empty()) error = choose_allreduce(options.allreduce);
  return error;
}

const runtime::ReduceSpec& reduce_spec(const runtime::Session& session, std::size_t bytes) {
  static constexpr auto star = runtime::ReduceSpec::star();
  const bool is_star =
      !chosen().is_reduce_given && session.prefers_star() && bytes <= star_reduce_bytes_max;
  return is_star ? star : chosen().reduce;
}

const runtime::BroadcastSpec& broadcast_spec(const runtime::Session& session, std::size_t bytes) {
  static constexpr auto star = runtime::BroadcastSpec::star();
  if (!chosen().is_broadcast_given && session.prefers_star()) return star;
  return bytes <= correction_bytes_max ? chosen().small : chosen().large;
}

}  // namespace resprout::shim

#include "mpi/carriers/specs.hpp"

#include <variant>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/process/world.hpp"

#include "registry/spec.hpp"
#include "registry/trees.hpp"

namespace resprout::shim {
namespace {

using registry::ProtocolId;
using registry::Spec;
using registry::TreeKind;

// From this size on the root of a star would combine for so long that a tree is faster.
constexpr std::size_t star_reduce_bytes_max = std::size_t{16} << 10;

struct Chosen {
  bool is_reduce_given = false;
  runtime::ReduceSpec reduce;
  std::optional<runtime::BroadcastSpec> broadcast;
};

Chosen& chosen() {
  static Chosen instance;
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
  if (spec.protocol == ProtocolId::corrected_gossip && spec.gossip.rounds == 0)
    return "option time: gossip that ends by time needs a clock that all processes share, which "
           "only the simulator has; valid here: rounds=1 to rounds=1048576";
  if (spec.tree == TreeKind::optimal)
    return "option tree: 'optimal' is built from the simulator's latency and overhead; valid here: "
           "binomial, kary, knomial, lame";
  if (spec.tree == TreeKind::lame && spec.k > lame_order_max)
    return "option k: for a Lame tree it is " + std::to_string(lame_order_max) + " at most";
  return "";
}

// What was measured inside a host says nothing of messages between hosts.
bool is_native_faster(Communicator& communicator, Kind kind, std::size_t bytes) {
  const runtime::Session& session = *communicator.session;
  const int ranks = session.everybody().size();
  const World& world = *World::current();
  const Place place{ranks, world.is_oversubscribed()};
  if (!session.is_on_one_host()) return is_native_faster_between_hosts(place, kind, bytes);
  if (!communicator.calibrated)
    communicator.calibrated = world.options().calibration.row_for(place);
  const Calibration::Row* row = *communicator.calibrated;
  return row != nullptr && is_calibrated(kind) ? row->is_native_faster(kind, bytes)
                                               : is_native_faster_mostly(place, kind, bytes);
}

std::string choose_allreduce(const std::string& text) {
  const auto parsed = registry::parse(text);
  if (const auto* error = std::get_if<std::string>(&parsed)) return "RESPROUT_ALLREDUCE: " + *error;
  const Spec spec = std::get<Spec>(parsed);
  if (spec.protocol != ProtocolId::ftco_allreduce)
    return "RESPROUT_ALLREDUCE: '" + text +
           "' is no allreduce to choose here; valid protocols: ftco-allreduce";
  if (spec.detection != registry::Detection::suspicion || spec.roots != registry::Roots::single ||
      spec.tree != registry::TreeKind::knomial)
    return "RESPROUT_ALLREDUCE: '" + text +
           "' is for the simulator; valid here: tree=knomial, roots=single, detection=suspicion";
  chosen().is_reduce_given = true;
  chosen().reduce.radix = spec.k;
  return {};
}

}  // namespace

std::string read_broadcast(const std::string& text, std::optional<runtime::BroadcastSpec>& into) {
  const auto parsed = registry::parse(text);
  if (const auto* error = std::get_if<std::string>(&parsed)) return *error;
  const Spec spec = std::get<Spec>(parsed);
  if (!is_gossip(spec) && spec.protocol != ProtocolId::corrected_tree &&
      spec.protocol != ProtocolId::reliable_broadcast)
    return "'" + text +
           "' is no broadcast of programs; valid protocols: corrected-tree, reliable-broadcast, "
           "corrected-gossip, reliable-gossip";
  if (std::string wrong = only_simulated(text, spec); !wrong.empty()) return wrong;
  runtime::BroadcastSpec broadcast;
  broadcast.shape = registry::shape_of(spec.tree);
  broadcast.numbering = spec.numbering;
  broadcast.arity = spec.k;
  broadcast.correction = spec.correction;
  broadcast.correction.delay += message_ns;
  broadcast.early = spec.early;
  if (is_gossip(spec)) broadcast.gossip_rounds = static_cast<std::uint32_t>(spec.gossip.rounds);
  into = broadcast;
  return {};
}

std::string choose_specs(const Options& options) {
  std::string error;
  if (!options.bcast.empty()) error = read_broadcast(options.bcast, chosen().broadcast);
  if (!error.empty()) error = "RESPROUT_BCAST: " + error;
  if (error.empty() && !options.allreduce.empty()) error = choose_allreduce(options.allreduce);
  return error;
}

bool is_choice_free(const Communicator& communicator, Kind kind) {
  const Options& options = World::current()->options();
  const bool is_sent_by_root = kind == Kind::broadcast || kind == Kind::scatter;
  const bool is_given =
      is_sent_by_root ? communicator.broadcast || chosen().broadcast : chosen().is_reduce_given;
  const bool has_missing_values =
      communicator.missing_values != nullptr || options.missing.what != Missing::What::nothing;
  return !is_given && !has_missing_values && options.sum != Sum::reproducible;
}

bool prefers_native(Communicator& communicator, Kind kind, std::size_t bytes) {
  const Options& options = World::current()->options();
  if (!is_choice_free(communicator, kind)) return false;
  // Without data nobody needs to wait for anybody.
  if (bytes == 0 && kind != Kind::barrier) return false;
  const Collectives collectives = communicator.collectives.value_or(options.collectives);
  if (collectives != Collectives::automatic) return collectives == Collectives::native;
  return is_native_faster(communicator, kind, bytes);
}

const runtime::ReduceSpec& reduce_spec(const runtime::Session& session, std::size_t bytes) {
  static constexpr auto star = runtime::ReduceSpec::star();
  const bool is_star =
      !chosen().is_reduce_given && session.prefers_star() && bytes <= star_reduce_bytes_max;
  return is_star ? star : chosen().reduce;
}

const runtime::ReduceSpec& concatenation_spec(const runtime::Session& session) {
  return reduce_spec(session, 0);
}

const runtime::BroadcastSpec& broadcast_spec(const Communicator& communicator) {
  static constexpr runtime::BroadcastSpec tree;
  static constexpr auto star = runtime::BroadcastSpec::star();
  if (communicator.broadcast) return *communicator.broadcast;
  if (chosen().broadcast) return *chosen().broadcast;
  return communicator.session->prefers_star() ? star : tree;
}

}  // namespace resprout::shim

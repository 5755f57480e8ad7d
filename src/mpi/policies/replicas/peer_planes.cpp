#include "mpi/policies/replicas/peer_planes.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "mpi/policies/replicas/decided.hpp"
#include "mpi/policies/replicas/host_map.hpp"
#include "runtime/net/socket.hpp"
#include "runtime/replicas/discovery.hpp"
#include "runtime/replicas/returns.hpp"

namespace resprout::shim {
namespace {

using runtime::LinkAddress;
using runtime::PlaneLinks;

constexpr unsigned look_us = 2000;

// With a lazy method nobody waits for what is said about a message, unless it has nothing else to
// do (and then says all that it has to say at once).
constexpr std::int64_t lazy_linger_ns = 50'000'000;
// So many messages are worth while to be voted on together.
constexpr std::uint64_t deferred_max = 32;

// Of what a process may be ahead by, a part may linger: others wait for it at their bound.
std::uint64_t lingering_messages(const runtime::Steps& bound) {
  return std::min(bound.messages, bound.bytes / runtime::Lag::request_bytes) / 8;
}

PlaneLinks::Linger linger(const runtime::Steps& bound) {
  PlaneLinks::Linger linger{.ns = lazy_linger_ns};
  linger.bytes =
      std::min<std::uint64_t>(linger.bytes, lingering_messages(bound) * sizeof(runtime::VoteFrame));
  return linger;
}

runtime::VerifierPatience patience(const runtime::Steps& bound) {
  runtime::VerifierPatience patience;
  patience.deferred_max = std::min<std::uint64_t>(deferred_max, lingering_messages(bound));
  return patience;
}

PlaneLinks::Setup links_setup(const Options& options, const PeerPlanes::Setup& peer_planes,
                              std::function<void()> on_due) {
  PlaneLinks::Setup setup;
  setup.on_due = std::move(on_due);
  setup.secret = runtime::read_discovery_secret(peer_planes.discovery);
  setup.self = {options.replica, peer_planes.rank};
  setup.planes = options.replicas;
  setup.ranks = peer_planes.ranks;
  setup.listen_address = peer_planes.address;
  setup.on_process_lost = peer_planes.on_process_lost;
  if (is_lazy(options)) setup.linger = linger(options.shadow_lag);
  if (!runtime::is_on_several_hosts(peer_planes.discovery)) return setup;
  if (const std::string own = runtime::reachable_address(options.network); !own.empty())
    setup.listen_address = own;
  setup.is_known_lost = [discovery = peer_planes.discovery](std::int32_t plane) {
    return runtime::is_said_to_be_lost(discovery, plane);
  };
  return setup;
}

// An eager method gives the program nothing that is not verified.
runtime::Lag::Setup lag_setup(const Options& options, int rank, const runtime::Verifier& verifier) {
  runtime::Lag::Setup setup;
  setup.self = {options.replica, rank};
  setup.planes = options.replicas;
  if (is_lazy(options)) setup.bound = options.shadow_lag;
  setup.open = [&verifier] { return verifier.open(); };
  return setup;
}

runtime::Decisions::Setup decisions_setup(const Options& options, int rank) {
  runtime::Decisions::Setup setup;
  setup.self = {options.replica, rank};
  setup.planes = options.replicas;
  setup.name_of = Decided::name_of;
  return setup;
}

runtime::Votes::Setup with_kept(runtime::Votes::Setup votes, const Options& options,
                                const PeerPlanes::Setup& peer_planes) {
  if (options.verify) votes.said = peer_planes.said;
  return votes;
}

// Everybody's, as rank 0 finds them there. Collective over MPI_COMM_WORLD.
std::vector<LinkAddress> addresses_in(const std::string& folder, std::int32_t planes,
                                      const PeerPlanes::Setup& setup) {
  std::vector<LinkAddress> all;
  if (setup.rank == 0) all = runtime::meet(folder, planes, setup.ranks, [] { usleep(look_us); });
  all.resize(static_cast<std::size_t>(planes * setup.ranks));
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibcast(all.data(), static_cast<int>(all.size() * sizeof(LinkAddress)), MPI_BYTE, 0,
              MPI_COMM_WORLD, &request);
  for (int is_over = 0; is_over == 0;) {
    PMPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    if (is_over == 0) usleep(look_us);
  }
  return all;
}

// Where nothing is verified nothing is voted on, whatever the method.
protocols::DigestVoteConfig vote_config(const Options& options) {
  const auto method = options.verify.value_or(protocols::VoteMethod::async_hash);
  return {method, options.replicas, protocols::Unproven::own};
}

}  // namespace

// What is asked for later is kept: by the eager method that sends digests, where a majority can
// say which copy is right. A lazy one has delivered by then, and whoever has all copies asks
// nobody. Where siblings stand in collectives are eager, and messages are kept anyway.
runtime::Votes::Setup votes_setup(const Options& options, int rank) {
  runtime::Votes::Setup setup;
  setup.config = vote_config(options);
  setup.self = {options.replica, rank};
  setup.keeps_copies = options.replicas > 2 && (options.stands_in() || !setup.config.is_lazy());
  return setup;
}

std::uint64_t copies_of_a_byte(const Options& options) {
  const bool sends_copies = !vote_config(options).sends_digests();
  return sends_copies ? static_cast<std::uint64_t>(options.replicas - 1) : 0;
}

bool is_lazy(const Options& options) { return vote_config(options).is_lazy(); }

PeerPlanes::PeerPlanes(const Options& options, Setup setup)
    : setup_(std::move(setup)),
      plane_(options.replica),
      planes_(options.replicas),
      links(
          links_setup(options, setup_, [this] { verifier.catch_up(); }),
          [this](runtime::Replica from, auto frame) { verifier.handle(from, frame); },
          [this](std::int32_t plane) { lose_plane(plane); }),
      verifier(with_kept(votes_setup(options, setup_.rank), options, setup_), links,
               setup_.on_finding, {}, patience(options.shadow_lag)),
      lag(lag_setup(options, setup_.rank, verifier), links),
      decisions(decisions_setup(options, setup_.rank), links),
      states({plane_, setup_.rank}, planes_) {
  links.listen(runtime::Channel::decisions,
               [this](runtime::Replica from, auto frame) { decisions.handle(from, frame); });
  links.listen(runtime::Channel::lags,
               [this](runtime::Replica from, auto frame) { lag.handle(from, frame); });
  links.listen(runtime::Channel::states,
               [this](runtime::Replica from, auto frame) { states.handle(from, frame); });
}

void PeerPlanes::lose_plane(std::int32_t plane) {
  verifier.lose_plane(plane);
  lag.lose_plane(plane);
  decisions.lose_plane(plane);
  states.lose_plane(plane);
}

void PeerPlanes::stay_alone() {
  for (std::int32_t plane = 0; plane < planes_; ++plane)
    if (plane != plane_) lose_plane(plane);
  const std::string job = runtime::job_of_discovery(setup_.discovery);
  if (runtime::is_on_several_hosts(job))
    learn_shared_hosts(addresses_in(job, planes_, setup_), setup_.ranks);
}

// Rank 0 speaks for its plane.
void PeerPlanes::meet() {
  const LinkAddress mine = links.address();
  std::vector<LinkAddress> own(static_cast<std::size_t>(setup_.ranks));
  PMPI_Gather(&mine, sizeof mine, MPI_BYTE, own.data(), sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (setup_.rank == 0) runtime::leave_addresses(setup_.discovery, plane_, own);
  std::vector<LinkAddress> all = addresses_in(setup_.discovery, planes_, setup_);
  if (runtime::is_on_several_hosts(setup_.discovery)) learn_shared_hosts(all, setup_.ranks);
  links.connect(std::move(all));
}

}  // namespace resprout::shim

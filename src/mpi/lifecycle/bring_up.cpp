#include "mpi/lifecycle/bring_up.hpp"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>

#include "mpi/process/first_loss.hpp"
#include "runtime/net/socket.hpp"
#include "runtime/slot_pool.hpp"

namespace resprout::shim {
namespace {

template <typename T>
std::vector<T> everybodys(const T& mine, int size) {
  std::vector<T> all(static_cast<std::size_t>(size));
  PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

struct Whereabouts {
  runtime::HostId machine;
  runtime::HostId network;
  runtime::HostId host;
};

std::array<char, 64> own_host_name() {
  std::array<char, 64> name{};
  gethostname(name.data(), name.size() - 1);
  return name;
}

// The launcher gives a plane a share of a host's cores. The MPI library may give each rank one of
// them, which says nothing about how many all have.
int cores_for_ranks(const Options& options) {
  cpu_set_t own;
  if (options.is_replicated() && sched_getaffinity(0, sizeof own, &own) == 0)
    return CPU_COUNT(&own);
  return static_cast<int>(std::thread::hardware_concurrency());
}

void name_hosts_in_no_line(const Job& job, const runtime::Order& order) {
  constexpr std::size_t named_max = 4;
  const std::vector<int> ranks = runtime::ranks_in_no_line({job.peers, job.host_names}, order);
  if (ranks.empty()) return;
  std::string who;
  for (std::size_t i = 0; i < std::min(ranks.size(), named_max); ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    who +=
        (i == 0 ? "" : ", ") + job.host_names[rank] + " (" + job.peers[rank].address.data() + ")";
  }
  if (ranks.size() > named_max)
    who += " and " + std::to_string(ranks.size() - named_max) + " more hosts";
  std::fprintf(stderr, "resprout: the order of hosts does not name %s; they stand last\n",
               who.c_str());
}

// One segment a host, made by its lowest rank.
std::unique_ptr<runtime::ShmTransport> join_host(const std::vector<runtime::PeerAddress>& peers,
                                                 int rank) {
  using runtime::ShmSegment;
  std::vector<int> local;
  int self = 0;
  const auto& mine = peers[static_cast<std::size_t>(rank)];
  for (int i = 0; i < static_cast<int>(peers.size()); ++i) {
    if (!peers[static_cast<std::size_t>(i)].is_same_host(mine)) continue;
    if (i == rank) self = static_cast<int>(local.size());
    local.push_back(i);
  }
  runtime::ShmSizes sizes;
  sizes.local_ranks = static_cast<std::uint32_t>(local.size());
  std::unique_ptr<ShmSegment> segment;
  std::array<char, 64> name{};
  if (self == 0) {
    segment = ShmSegment::create(runtime::within_limits(sizes));
    segment->name().copy(name.data(), name.size() - 1);
  }
  const auto names = everybodys(name, static_cast<int>(peers.size()));
  if (self != 0) segment = ShmSegment::attach(names[static_cast<std::size_t>(local[0])].data());
  runtime::SlotPool::sign({segment->shared_slots(), local}, static_cast<std::size_t>(self));
  PMPI_Barrier(MPI_COMM_WORLD);
  if (self == 0) segment->unlink();
  return std::make_unique<runtime::ShmTransport>(std::move(segment), local, self);
}

// What rank 0 works out, by its own options: whatever those of others say, all have the same.
runtime::ViewTree agree_on_tree(const Options& options, const Job& job) {
  const runtime::RankHosts hosts{job.peers, job.host_names};
  runtime::ViewTree tree;
  if (job.rank == 0) tree = runtime::make_view_tree({options.radix}, hosts, options.order);
  std::array<std::int32_t, 2> head{tree.tree.radix, static_cast<std::int32_t>(tree.places.size())};
  PMPI_Bcast(head.data(), 2, MPI_INT32_T, 0, MPI_COMM_WORLD);
  tree.tree.radix = head[0];
  tree.places.resize(static_cast<std::size_t>(head[1]));
  PMPI_Bcast(tree.places.data(), head[1], MPI_INT32_T, 0, MPI_COMM_WORLD);
  if (job.rank == 0 && options.order) name_hosts_in_no_line(job, *options.order);
  return tree;
}

}  // namespace

Job bring_up(const Options& options, runtime::LifelineOptions callbacks) {
  Job job;
  PMPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &job.size);

  if (job.rank == 0) callbacks.secret = runtime::auth::new_secret();
  PMPI_Bcast(callbacks.secret.data(), static_cast<int>(callbacks.secret.size()), MPI_BYTE, 0,
             MPI_COMM_WORLD);

  const Whereabouts own = {runtime::current_machine_id(), runtime::current_network_id(),
                           runtime::current_host_id()};
  const auto places = everybodys(own, job.size);
  const bool is_one_network =
      std::ranges::count(places, own.network, &Whereabouts::network) == job.size;
  const bool is_one_host = std::ranges::count(places, own.host, &Whereabouts::host) == job.size;
  job.local_ranks =
      static_cast<int>(std::ranges::count(places, own.machine, &Whereabouts::machine));

  job.cores = cores_for_ranks(options);
  int is_crowded = job.local_ranks > job.cores ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &is_crowded, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  job.is_oversubscribed = is_crowded != 0;

  callbacks.rank = job.rank;
  callbacks.listen_address = "127.0.0.1";
  if (!is_one_network) {
    const std::string reachable = runtime::reachable_address(options.network);
    if (!reachable.empty()) callbacks.listen_address = reachable;
  }
  callbacks.heartbeat_period_ns = std::int64_t{options.heartbeat_period_ms} * 1000000;
  callbacks.heartbeat_timeout_ns = std::int64_t{options.heartbeat_timeout_ms} * 1000000;
  job.lifeline = std::make_unique<runtime::Lifeline>(callbacks);
  runtime::PeerAddress mine = job.lifeline->listen();

  const bool wants_shm = options.transport != TransportChoice::tcp;
  std::unique_ptr<runtime::TcpTransport> tcp;
  if (!is_one_host || !wants_shm) {
    tcp = std::make_unique<runtime::TcpTransport>(job.rank, callbacks.secret,
                                                  callbacks.listen_address);
    mine.data_port = tcp->port();
  }
  job.peers = everybodys(mine, job.size);
  for (const auto& name : everybodys(own_host_name(), job.size))
    job.host_names.push_back(name.data());
  if (goes_on_without(options)) job.tree = agree_on_tree(options, job);
  if (tcp) {
    std::vector<runtime::TcpEndpoint> endpoints;
    for (const auto& peer : job.peers) endpoints.push_back({peer.address.data(), peer.data_port});
    tcp->set_peers(std::move(endpoints));
  }
  std::unique_ptr<runtime::ShmTransport> shm;
  if (wants_shm) shm = join_host(job.peers, job.rank);
  job.transport = std::make_unique<runtime::Router>(std::move(shm), std::move(tcp));
  return job;
}

}  // namespace resprout::shim

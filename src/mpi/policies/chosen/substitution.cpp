#include "mpi/policies/chosen/substitution.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>

#include "mpi/policies/replicas/clocks.hpp"
#include "mpi/policies/replicas/compared.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/policies/replicas/identity.hpp"
#include "mpi/policies/replicas/lag_limiter.hpp"
#include "mpi/policies/replicas/lone_calls.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/peer_planes.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/policies/replicas/replica_substitution.hpp"
#include "mpi/policies/replicas/verified_requests.hpp"
#include "mpi/process/call_policy.hpp"
#include "openmpi/progress_hook.hpp"

namespace resprout::shim {

namespace {

struct Substitution {
  std::unique_ptr<ReplicaSubstitution> replica_substitution;
  std::unique_ptr<LagLimiter> lag_limiter;  // null: nothing is verified
  Comparing comparing;
  std::unique_ptr<Messages> messages;
  std::unique_ptr<Decided> decided;
  std::unique_ptr<Receives> receives;
};
std::atomic<bool> is_substitution_over{false};

void advance_receives() {
  if (Receives* by = receives()) by->advance();
}

// In the library's progress, on a thread that is inside of it.
int look_after_receives() {
  advance_receives();
  end_lone_calls_if_lost();
  return 0;
}

Substitution& substitution() {
  static auto* instance = new Substitution;
  return *instance;
}

void go_on_with_substitution() { substitution().replica_substitution->meanwhile(); }

}  // namespace

void open_replica_substitution(const Options& options, const std::string& address) {
  if (!options.stands_in()) return;
  Substitution& open = substitution();
  int rank = 0;
  int ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    open.replica_substitution =
        std::make_unique<ReplicaSubstitution>(options, address, rank, ranks);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resprout: replicas cannot meet: %s\n", error.what());
    std::_Exit(2);
  }
  open.replica_substitution->also_meanwhile(advance_receives);
  PeerPlanes& peer_planes = open.replica_substitution->peer_planes();
  Messages::Setup messages{.replica_substitution = open.replica_substitution.get(),
                           .rank = rank,
                           .meanwhile = go_on_with_substitution};
  messages.held_back = held_back_by_receives;
  if (options.verify) {
    open.lag_limiter = std::make_unique<LagLimiter>(peer_planes.lag, copies_of_a_byte(options),
                                                    go_on_with_substitution);
    messages.verifier = &peer_planes.verifier;
    messages.lag_limiter = open.lag_limiter.get();
    open.comparing.verifier = &peer_planes.verifier;
    open.comparing.lag_limiter = open.lag_limiter.get();
    open.comparing.keeps_given = votes_setup(options, rank).keeps_copies;
    open.comparing.lingers = is_lazy(options);
    open.comparing.rank = rank;
    open.comparing.meanwhile = go_on_with_substitution;
  }
  open.messages = std::make_unique<Messages>(std::move(messages));
  open.decided = std::make_unique<Decided>(peer_planes.decisions, go_on_with_substitution);
  open.receives = std::make_unique<Receives>(*open.decided, open.messages.get());
  if (!add_progress_hook(look_after_receives, Rounds::some)) {
    std::fprintf(stderr,
                 "resprout: --on-replica-loss stand-in needs an MPI library that has "
                 "opal_progress_register\n");
    std::_Exit(2);
  }
  replica_substitution.store(open.replica_substitution.get());
  choose_call_policy(open.replica_substitution.get());
  if (options.verify) comparing.store(&open.comparing);
  verified_messages.store(open.messages.get());
  decided.store(open.decided.get());
  open_clocks();
  open_system();
  decided_receives.store(open.receives.get());
}

bool is_replica_substitution_over() { return is_substitution_over.load(); }

VerificationFigures close_replica_substitution() {
  Substitution& open = substitution();
  if (open.replica_substitution == nullptr) return {};
  close_clocks();
  close_system();
  open.receives->close([&] { open.replica_substitution->meanwhile(); });
  decided_receives.store(nullptr);
  remove_progress_hook(look_after_receives);
  open.decided->finish();
  decided.store(nullptr);
  comparing.store(nullptr);
  VerificationFigures figures = open.replica_substitution->finish();
  figures.skipped = open.messages->skipped() + open.comparing.skipped.load();
  is_substitution_over.store(true);
  verified_messages.store(nullptr);
  choose_call_policy(nullptr);
  replica_substitution.store(nullptr);
  return figures;
}

}  // namespace resprout::shim

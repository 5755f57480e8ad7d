#include "mpi/policies/chosen/verification.hpp"

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include "mpi/policies/checkpoints/checkpoints.hpp"
#include "mpi/policies/checkpoints/returns.hpp"
#include "mpi/policies/replicas/clocks.hpp"
#include "mpi/policies/replicas/compared.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/policies/replicas/findings.hpp"
#include "mpi/policies/replicas/identity.hpp"
#include "mpi/policies/replicas/lag_limiter.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/peer_planes.hpp"
#include "mpi/policies/replicas/plane_end.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/policies/replicas/verified_requests.hpp"
#include "mpi/process/meanwhile.hpp"
#include "openmpi/progress_hook.hpp"

namespace resprout::shim {
namespace {

using runtime::PlaneLinks;
using runtime::Verifier;

// Null while nothing is verified.
std::atomic<PlaneLinks*> links_in_use{nullptr};

// While a call waits for what crosses planes. Others of this plane may need us before our replicas
// get as far; and these may wait for what was decided here before they can answer us.
void go_on_with_mpi() {
  if (PlaneLinks* links = links_in_use.load(std::memory_order_relaxed)) links->drive();
  if (Decided* by = decided.load(std::memory_order_acquire)) by->flush();
  if (Receives* by = receives()) by->advance();
  int flag = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  meanwhile();
}

// In the library's progress, on a thread that is inside of it.
int look_after_messages() {
  if (Receives* by = receives()) by->advance();
  return 0;
}

class Verification final {
 public:
  Verification(const Options& options, const std::string& address)
      : options_(options),
        address_(address),
        rank_(rank_in_world()),
        findings_(findings_setup(options)),
        peer_planes_(std::in_place, options, peer_planes_setup(discovery_of(options))),
        lag_limiter_(peer_planes_->lag, copies_of_a_byte(options), go_on_with_mpi),
        messages_(messages_setup(options)),
        decided_(peer_planes_->decisions, go_on_with_mpi),
        receives_(decided_),
        returns_({.peer_planes = *peer_planes_,
                  .decided = decided_,
                  .rank = rank_,
                  .plane = options.replica,
                  .planes = options.replicas,
                  .run_directory = options.run_directory,
                  .regroup = [this](const std::string& discovery) { regroup(discovery); },
                  .meanwhile = go_on_with_mpi},
                 discovery_of(options)),
        checkpoints_({.peer_planes = *peer_planes_,
                      .messages = messages_,
                      .comparing = comparing_,
                      .findings = findings_,
                      .receives = receives_,
                      .returns = returns_,
                      .verifies = options.verify.has_value(),
                      .rank = rank_,
                      .replica = options.replica,
                      .run_directory = options.run_directory,
                      .meanwhile = go_on_with_mpi}) {
    comparing_.verifier = &peer_planes_->verifier;
    comparing_.lag_limiter = &lag_limiter_;
    comparing_.is_lazy = is_lazy(options);
    comparing_.keeps_given = votes_setup(options, rank_).keeps_copies;
    comparing_.rank = rank_;
    comparing_.meanwhile = go_on_with_mpi;
    if (returns_.comes_back()) {
      peer_planes_->stay_alone();
    } else {
      peer_planes_->meet();
    }
    go_on();
    checkpoints.store(&checkpoints_);
  }

  VerificationFigures close() {
    checkpoints.store(nullptr);
    checkpoints_.finish();
    receives_.close(go_on_with_mpi);
    part(options_.run_directory);
    figures_.skipped = messages_.skipped() + comparing_.skipped.load();
    figures_.checkpoints = checkpoints_.figures().taken;
    figures_.returns = rank_ == 0 ? checkpoints_.figures().returns : 0;
    return figures_;
  }

  // The folder in which each plane has its run directory.
  static std::string discovery_of(const Options& options) {
    return std::filesystem::path(options.run_directory).parent_path().string();
  }

 private:
  static int rank_in_world() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  Findings::Setup findings_setup(const Options& options) const {
    return {.run_directory = options.run_directory,
            .rank = rank_,
            .replica = options.replica,
            .on_corruption = options.on_corruption};
  }
  PeerPlanes::Setup peer_planes_setup(const std::string& discovery) {
    PeerPlanes::Setup setup;
    setup.discovery = discovery;
    setup.address = address_;
    setup.rank = rank_;
    PMPI_Comm_size(MPI_COMM_WORLD, &setup.ranks);
    setup.on_finding = [this](const runtime::Finding& finding) {
      checkpoints_.note(finding);
      findings_.note(finding);
    };
    return setup;
  }
  Messages::Setup messages_setup(const Options& options) {
    const runtime::Votes::Setup votes = votes_setup(options, rank_);
    return {.verifier = &peer_planes_->verifier,
            .lag_limiter = &lag_limiter_,
            .sends_bytes = votes.keeps_copies || !votes.config.sends_digests(),
            .rank = rank_,
            .meanwhile = go_on_with_mpi,
            .held_back = held_back_by_receives};
  }
  // From here on the calls of the program are verified, where any are.
  void go_on() {
    links_in_use.store(&peer_planes_->links);
    if (!options_.verify) return;
    if (!add_progress_hook(look_after_messages, Rounds::some))
      throw std::runtime_error("--verify needs an MPI library that has opal_progress_register");
    comparing.store(&comparing_);
    verified_messages.store(&messages_);
    decided.store(&decided_);
    open_clocks();
    open_system();
    decided_receives.store(&receives_);
  }

  // Until all that any living plane has received is verified, and nobody will be asked for
  // anything. Empty `run_directory`: without notes for the launcher.
  void part(const std::string& run_directory) {
    close_clocks();
    close_system();
    decided_receives.store(nullptr);
    remove_progress_hook(look_after_messages);
    decided_.finish();
    peer_planes_->lag.finish();
    decided.store(nullptr);
    comparing.store(nullptr);
    verified_messages.store(nullptr);
    {
      PlaneEnd end(run_directory);
      Verifier& verifier = peer_planes_->verifier;
      const auto is_agreed = [&] { return options_.verify && verifier.is_agreed(); };
      const auto meanwhile = [&] {
        go_on_with_mpi();
        end.advance(is_agreed());
      };
      verifier.finish(meanwhile, [&] { end.barrier(is_agreed(), meanwhile); });
    }
    links_in_use.store(nullptr);
    peer_planes_->links.leave();
    note_figures();
  }

  // What a plane does alone before it has come back is none of them.
  void note_figures() {
    if (returns_.comes_back()) return;
    const Verifier::Figures votes = peer_planes_->verifier.figures();
    figures_.votes.verified += votes.verified;
    figures_.votes.unverified += votes.unverified;
    figures_.votes.open_max = std::max(figures_.votes.open_max, votes.open_max);
    figures_.votes.bytes_max = std::max(figures_.votes.bytes_max, votes.bytes_max);
    figures_.history = peer_planes_->verifier.history();
  }

  // REQUIRES: nothing of this plane is under way. What refers to parts of the peer planes finds
  // those of the new one in their place.
  void regroup(const std::string& discovery) {
    part("");
    try {
      peer_planes_.emplace(options_, peer_planes_setup(discovery));
      messages_.set_counts({});
      comparing_.set_numbers({});
      receives_.restart();
      peer_planes_->meet();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "resprout: this replica cannot meet the others: %s\n", error.what());
      for (;;) kill(getpid(), SIGKILL);
    }
    go_on();
  }

  const Options& options_;
  const std::string address_;
  const int rank_;
  Findings findings_;
  std::optional<PeerPlanes> peer_planes_;
  LagLimiter lag_limiter_;
  Messages messages_;
  Comparing comparing_;
  Decided decided_;
  Receives receives_;
  Returns returns_;
  Checkpoints checkpoints_;
  VerificationFigures figures_;
};

std::unique_ptr<Verification>& verification() {
  static auto* instance = new std::unique_ptr<Verification>;
  return *instance;
}

struct Prepared {
  const Options* options = nullptr;  // null: it is not
  std::string address;
};
Prepared& prepared() {
  static auto* instance = new Prepared;
  return *instance;
}

}  // namespace

void prepare_verification(const Options& options, const std::string& address) {
  prepared() = {&options, address};
  const std::string discovery = Verification::discovery_of(options);
  if (options.verify || runtime::comes_back(discovery, options.replica)) open_verification();
}

void open_verification() {
  const auto& [options, address] = prepared();
  if (options == nullptr || verification()) return;
  try {
    verification() = std::make_unique<Verification>(*options, address);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resprout: replicas cannot meet: %s\n", error.what());
    std::_Exit(2);
  }
}

VerificationFigures close_verification() {
  prepared() = {};
  if (!verification()) return {};
  const VerificationFigures figures = verification()->close();
  verification().reset();
  return figures;
}

}  // namespace resprout::shim

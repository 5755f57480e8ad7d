#include "shim/replication/verification.hpp"

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include "runtime/net/socket.hpp"
#include "runtime/replicas/meeting.hpp"
#include "runtime/replicas/plane_links.hpp"
#include "shim/collectives/nonblocking/under_way.hpp"
#include "shim/native/progress_hook.hpp"
#include "shim/replication/checkpoints.hpp"
#include "shim/replication/compared.hpp"
#include "shim/replication/decided.hpp"
#include "shim/replication/findings.hpp"
#include "shim/replication/messages.hpp"
#include "shim/replication/plane_end.hpp"
#include "shim/replication/receives.hpp"
#include "shim/replication/room.hpp"

namespace resprout::shim {
namespace {

using runtime::LinkAddress;
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
  drive();
}

// In the library's progress, on a thread that is inside of it.
int look_after_receives() {
  if (Receives* by = receives()) by->advance();
  return 0;
}

// What is asked for later is kept: by the eager method that sends digests, where a majority can
// say which copy is right. A lazy one has delivered by then, and whoever has all copies asks
// nobody.
runtime::Votes::Setup votes_setup(const Options& options, int rank) {
  runtime::Votes::Setup setup;
  setup.config = {*options.verify, options.replicas, protocols::Unproven::own};
  setup.self = {options.replica, rank};
  setup.keeps_copies = options.replicas > 2 && !setup.config.is_lazy();
  return setup;
}

class Verification final {
 public:
  Verification(const Options& options, const std::string& address)
      : rank_(rank_in_world()),
        run_directory_(options.run_directory),
        findings_(findings_setup(options)),
        links_(
            links_setup(options, address),
            [this](runtime::Replica from, auto frame) { verifier_.handle(from, frame); },
            [this](std::int32_t plane) {
              verifier_.lose_plane(plane);
              lag_.lose_plane(plane);
              decisions_.lose_plane(plane);
            }),
        verifier_(votes_setup(options, rank_), links_,
                  [this](const runtime::Finding& finding) {
                    checkpoints_.note(finding);
                    findings_.note(finding);
                  }),
        lag_(lag_setup(options), links_),
        room_(lag_, copies_of_a_byte(options), go_on_with_mpi),
        messages_(messages_setup(options)),
        decisions_(decisions_setup(options), links_),
        decided_(decisions_, go_on_with_mpi),
        receives_(decided_),
        checkpoints_({.verifier = verifier_,
                      .lag = lag_,
                      .decisions = decisions_,
                      .messages = messages_,
                      .comparing = comparing_,
                      .findings = findings_,
                      .receives = receives_,
                      .rank = rank_,
                      .run_directory = run_directory_,
                      .meanwhile = go_on_with_mpi}) {
    if (!add_progress_hook(look_after_receives, Rounds::some))
      throw std::runtime_error("--verify needs an MPI library that has opal_progress_register");
    links_.listen(runtime::Channel::decisions,
                  [this](runtime::Replica from, auto frame) { decisions_.handle(from, frame); });
    links_.listen(runtime::Channel::lags,
                  [this](runtime::Replica from, auto frame) { lag_.handle(from, frame); });
    comparing_.verifier = &verifier_;
    comparing_.room = &room_;
    comparing_.is_lazy = is_lazy(options);
    comparing_.rank = rank_;
    comparing_.meanwhile = go_on_with_mpi;
    links_.connect(meet(options));
    links_in_use.store(&links_);
    comparing.store(&comparing_);
    verified_messages.store(&messages_);
    decided.store(&decided_);
    decided_receives.store(&receives_);
    checkpoints.store(&checkpoints_);
  }

  VerificationFigures close() {
    checkpoints.store(nullptr);
    checkpoints_.finish();
    receives_.close(go_on_with_mpi);
    decided_receives.store(nullptr);
    remove_progress_hook(look_after_receives);
    decided_.finish();
    lag_.finish();
    decided.store(nullptr);
    comparing.store(nullptr);
    verified_messages.store(nullptr);
    {
      PlaneEnd end(run_directory_);
      const auto meanwhile = [&] {
        go_on_with_mpi();
        end.advance(verifier_.is_agreed());
      };
      verifier_.finish(meanwhile, [&] { end.barrier(verifier_.is_agreed(), meanwhile); });
    }
    links_in_use.store(nullptr);
    links_.leave();
    return {verifier_.figures(), messages_.skipped() + comparing_.skipped.load(),
            verifier_.history(), checkpoints_.figures().taken,
            rank_ == 0 ? checkpoints_.figures().returns : 0};
  }

 private:
  static int rank_in_world() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  static int ranks() {
    int size = 1;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
  }
  static bool is_lazy(const Options& options) {
    return protocols::DigestVoteConfig{*options.verify, options.replicas}.is_lazy();
  }
  // The launcher's folder, in which each plane has its run directory.
  static std::string folder(const Options& options) {
    return std::filesystem::path(options.run_directory).parent_path().string();
  }

  Findings::Setup findings_setup(const Options& options) const {
    return {.run_directory = options.run_directory,
            .rank = rank_,
            .replica = options.replica,
            .on_corruption = options.on_corruption};
  }
  PlaneLinks::Setup links_setup(const Options& options, const std::string& address) const {
    PlaneLinks::Setup setup;
    setup.secret = runtime::read_meeting_secret(folder(options));
    setup.self = {options.replica, rank_};
    setup.planes = options.replicas;
    setup.ranks = ranks();
    setup.listen_address = address;
    if (runtime::is_on_several_hosts(folder(options))) {
      if (const std::string own = runtime::reachable_address(options.network); !own.empty())
        setup.listen_address = own;
      setup.is_known_lost = [where = folder(options)](std::int32_t plane) {
        return runtime::is_said_to_be_lost(where, plane);
      };
    }
    return setup;
  }
  Messages::Setup messages_setup(const Options& options) {
    const runtime::Votes::Setup votes = votes_setup(options, rank_);
    return {.verifier = &verifier_,
            .room = &room_,
            .sends_bytes = votes.keeps_copies || !votes.config.sends_digests(),
            .rank = rank_,
            .meanwhile = go_on_with_mpi};
  }

  // An eager method gives the program nothing that is not verified.
  runtime::Lag::Setup lag_setup(const Options& options) const {
    runtime::Lag::Setup setup;
    setup.self = {options.replica, rank_};
    setup.planes = options.replicas;
    if (is_lazy(options)) setup.bound = options.shadow_lag;
    setup.open = [this] { return verifier_.open(); };
    return setup;
  }
  static std::uint64_t copies_of_a_byte(const Options& options) {
    const protocols::DigestVoteConfig config{*options.verify, options.replicas};
    return config.sends_digests() ? 0 : static_cast<std::uint64_t>(options.replicas - 1);
  }

  runtime::Decisions::Setup decisions_setup(const Options& options) const {
    runtime::Decisions::Setup setup;
    setup.self = {options.replica, rank_};
    setup.planes = options.replicas;
    setup.name_of = Decided::name_of;
    return setup;
  }

  // Rank 0 speaks for its plane.
  std::vector<LinkAddress> meet(const Options& options) {
    const LinkAddress mine = links_.address();
    std::vector<LinkAddress> all(static_cast<std::size_t>(ranks()));
    PMPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank_ == 0) {
      runtime::leave_addresses(folder(options), options.replica, all);
      all = runtime::meet(folder(options), options.replicas, ranks(), [] { usleep(2000); });
    }
    all.resize(static_cast<std::size_t>(options.replicas * ranks()));
    PMPI_Bcast(all.data(), static_cast<int>(all.size() * sizeof mine), MPI_BYTE, 0, MPI_COMM_WORLD);
    return all;
  }

  const int rank_;
  const std::string run_directory_;
  Findings findings_;
  PlaneLinks links_;
  Verifier verifier_;
  runtime::Lag lag_;
  Room room_;
  Messages messages_;
  Comparing comparing_;
  runtime::Decisions decisions_;
  Decided decided_;
  Receives receives_;
  Checkpoints checkpoints_;
};

std::unique_ptr<Verification>& open_one() {
  static auto* instance = new std::unique_ptr<Verification>;
  return *instance;
}

}  // namespace

void open_verification(const Options& options, const std::string& address) {
  open_one() = std::make_unique<Verification>(options, address);
}

VerificationFigures close_verification() {
  if (!open_one()) return {};
  const VerificationFigures figures = open_one()->close();
  open_one().reset();
  return figures;
}

}  // namespace resprout::shim

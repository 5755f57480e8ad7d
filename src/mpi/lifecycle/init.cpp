// MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Abort: the world comes and goes.
#include "mpi/carriers/new_natives.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/errors/wrappings.hpp"
#include "mpi/process/open_windows.hpp"
#include "mpi/process/world.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "mpi/carriers/specs.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/departures.hpp"
#include "mpi/handles/communicators/lingering.hpp"
#include "mpi/handles/communicators/natives.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/communicators/unwanted.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/cut_off.hpp"
#include "mpi/handles/mpich/breaking_off.hpp"
#include "mpi/handles/openmpi/creation_communicator.hpp"
#include "mpi/handles/openmpi/left_behind.hpp"
#include "mpi/handles/openmpi/references.hpp"
#include "mpi/handles/windows/windows.hpp"
#include "mpi/lifecycle/abort.hpp"
#include "mpi/lifecycle/bring_up.hpp"
#include "mpi/lifecycle/broken_pipes.hpp"
#include "mpi/lifecycle/leaving.hpp"
#include "mpi/lifecycle/report/arrival.hpp"
#include "mpi/lifecycle/report/fatal_signals.hpp"
#include "mpi/lifecycle/report/waiting.hpp"
#include "mpi/lifecycle/standby.hpp"
#include "mpi/policies/checkpoints/lasting_checkpoints.hpp"
#include "mpi/policies/chosen/substitution.hpp"
#include "mpi/policies/chosen/verification.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/policies/replicas/clocks.hpp"
#include "mpi/policies/replicas/identity.hpp"
#include "mpi/policies/replicas/replica_substitution.hpp"
#include "mpi/process/calls_mutex.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/report/position.hpp"
#include "mpi/process/report/report.hpp"
#include "openmpi/lasting_sends.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/collectives.hpp"
#include "runtime/death_marks/death_marks.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

// Messages of the program's own are on their way while it waits in a collective.
void progress_mpi() {
  int flag = 0;
#if defined(OPEN_MPI)
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
#else
  // MPICH does not look for what others say where it is asked for a process's own, nor where it
  // finds something.
  constexpr int tag_of_nothing = last_tag_of_drain - 1;
  PMPI_Iprobe(MPI_ANY_SOURCE, tag_of_nothing, carrier(0), &flag, MPI_STATUS_IGNORE);
#endif
  take_unwanted();
}

class LiveWorld final : public World {
 public:
  LiveWorld(Options options, Job job)
      : options_(std::move(options)),
        job_(std::move(job)),
        report_(Report::open(report_setup(options_, job_))),
        engine_(job_.rank, job_.size, *job_.transport,
                runtime::idle_strategy(job_.local_ranks, job_.cores)) {
    engine_.do_meanwhile(progress_mpi, has_windows);
    engine_.ask_about_broken_peers([this](int rank) { job_.lifeline->suspect(rank); });
    engine_.watch_links(link_watching());
    // Who does more about a loss than to go on does it when its own lifeline says so.
    if (goes_on_without(options_)) {
      death_mark_.start(job_.transport->death_marks(), job_.rank);
      engine_.watch_death_marks([this](int rank) { job_.lifeline->suspect(rank); });
    }
  }

  const Options& options() const override { return options_; }
  int rank() const override { return job_.rank; }
  int size() const override { return job_.size; }
  runtime::Engine& engine() override { return engine_; }
  Report& report() override { return report_; }
  bool is_on_own_host(int world_rank) const override {
    const auto peer = [&](int rank) { return job_.peers[static_cast<std::size_t>(rank)]; };
    return peer(world_rank).is_same_host(peer(job_.rank));
  }
  bool is_oversubscribed() const override { return job_.is_oversubscribed; }
  bool is_lost(int world_rank) const override { return engine_.losses().is_lost(world_rank); }
  int lost_count() const override { return engine_.losses().count(); }
  int world_rank_of(MPI_Comm comm, int rank) override {
    if (rank < 0) return -1;
    const auto& world_ranks = communicator_of(comm)->world_ranks;
    if (rank >= static_cast<int>(world_ranks.size())) return -1;
    const int world_rank = world_ranks[static_cast<std::size_t>(rank)];
    return world_rank == MPI_UNDEFINED ? -1 : world_rank;
  }

  [[noreturn]] void end_job(int status, const std::string& line) override {
    report().note_exit(status);  // nobody else is left to say what was lost
    shim::end_job(job_.peers, job_.rank, options_.run_directory, status, line);
  }

  Job& job() { return job_; }
  runtime::DeathMark& death_mark() { return death_mark_; }

 private:
  // Of links between hosts: inside of a host nothing can be cut.
  runtime::LinkWatching link_watching() {
    runtime::LinkWatching watching;
    for (const auto& peer : job_.peers) {
      const auto same = [&](const auto& other) { return other.is_same_host(peer); };
      const auto first = std::find_if(job_.peers.begin(), job_.peers.end(), same);
      watching.hosts.push_back(static_cast<int>(first - job_.peers.begin()));
    }
    const bool has_others = std::count(watching.hosts.begin(), watching.hosts.end(), 0) < job_.size;
    if (has_others) watching.patience_ns = Duration{options_.heartbeat_timeout_ms} * 1000000;
    watching.ask_detector = [this](int rank) { job_.lifeline->ask_whether_at_work(rank); };
    watching.say_at_work = [this](int rank) { job_.lifeline->say_at_work(rank); };
    watching.report = [this](int rank) { job_.lifeline->report_silent_link(rank); };
    return watching;
  }

  static Report::Setup report_setup(const Options& options, const Job& job) {
    Report::Setup setup;
    setup.rank = job.rank;
    for (std::size_t i = 0; i < job.peers.size(); ++i)
      setup.peers.push_back({job.peers[i].pid, job.host_names[i]});
    setup.run_directory = options.run_directory;
    setup.on_loss = options.on_loss;
    setup.keeps_views = goes_on_without(options) && job.size <= runtime::views_ranks_max;
    setup.tree = job.tree;
    return setup;
  }

  const Options options_;
  Job job_;
  Report& report_;
  runtime::Engine engine_;
  runtime::DeathMark death_mark_;
};

std::atomic<LiveWorld*> live{nullptr};

// Ends the job from inside MPI_Init: all ranks have read the same environment, so all end alike and
// one says why. MPI_Abort would leave the others behind under ULFM.
[[noreturn]] void refuse(const std::string& why) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::fprintf(stderr, "resprout: %s\n", why.c_str());
  PMPI_Finalize();
  std::exit(2);
}

// `kill -USR1` asks a process what it waits for. Only where the program has no use for the signal.
std::atomic<bool> is_asked{false};

void listen_to_questions() {
  struct sigaction before{};
  if (sigaction(SIGUSR1, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction action{};
  action.sa_handler = [](int) { is_asked.store(true); };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
}

// Whether something goes on that others wait for, or may at any moment, as they do where Resprout
// carries everything.
bool tick() {
  LiveWorld* world = live.load();
  if (world == nullptr) return false;
  const bool is_busy = world->engine().tick();
  if (is_asked.exchange(false))
    std::fprintf(stderr, "resprout: %s\n", world->engine().describe().c_str());
  return is_busy || is_any_under_way() || are_own(world->options().collectives);
}

// Where nobody outlives a loss: before anything can go on without the lost, this process says what
// it knows and ends; the launcher ends the others.
[[noreturn]] void end_with_lost(LiveWorld& world, const runtime::Loss& loss) {
  world.report().note_loss_of_plane(loss);
  for (;;) kill(getpid(), SIGKILL);
}

void handle_loss(const runtime::Loss& loss) {
  note_lost(loss.rank);
  LiveWorld* world = live.load();
  ReplicaSubstitution* by = replica_substitution.load();
  if (by != nullptr) by->lose(loss.rank);  // before any call meets it
  const bool goes_on = goes_on_without(world->options());
  if (by == nullptr && !is_replica_substitution_over() && !goes_on) end_with_lost(*world, loss);
  const bool is_seen_here = runtime::is_proven(loss.kind) && world->is_on_own_host(loss.rank);
  if (is_seen_here && goes_on)
    world->engine().report_death(loss.rank);
  else
    world->engine().report_failure(loss.rank);
  report_failure_to_mpi(loss.rank, runtime::is_proven(loss.kind));
  if (goes_on) return world->report().note_loss(loss);
  world->report().note_loss_of_plane(loss);
}

void handle_view(const runtime::InstalledView& view) { live.load()->report().note_view(view); }

// MPI's part of MPI_Init bears no loss, nor does meeting other planes; from here on one does no
// harm.
void leave_together() {
  runtime::Lock lock = live.load()->engine().lock();
  if (runtime::Session* session = session_of(MPI_COMM_WORLD, lock))
    runtime::barrier(*session, lock);
}

void join_other_planes(LiveWorld& world) {
  const auto& own = world.job().peers[static_cast<std::size_t>(world.rank())];
  if (world.options().stands_in())
    open_replica_substitution(world.options(), own.address.data());
  else
    prepare_verification(world.options(), own.address.data());
}

// Whoever dies outside of MPI_Init must not count as one who ended before it was through.
void say_that_all_are_in() {
  if (live.load()->rank() == 0) note_all_in();
  leave_together();
}

// All that takes time is done before it is needed.
void stand_by() {
  LastingCheckpoints::meet();
  wait_until_needed(live.load()->options().run_directory);
}

// What another job has started, with a copy of its environment or by MPI_Comm_spawn, is what it is
// without Resprout.
bool is_for_others() {
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return is_of_other_job() || parent != MPI_COMM_NULL;
}

// What the lifeline's thread calls.
runtime::LifelineOptions callbacks_with(const Options& options) {
  runtime::LifelineOptions callbacks;
  callbacks.on_loss = handle_loss;
  callbacks.on_view = handle_view;
  callbacks.keeps_views = goes_on_without(options);
  // Where others go on, or all begin again, nobody lives on alone.
  if (goes_on_without(options)) callbacks.on_cut_off = live_on_cut_off;
  callbacks.on_left = [](int rank) {
    if (LiveWorld* world = live.load()) world->engine().report_failure(rank);
  };
  callbacks.on_tick = tick;
  callbacks.on_question = [](int by) {
    if (LiveWorld* world = live.load()) world->engine().note_question(by);
  };
  callbacks.on_at_work = [](int rank) {
    if (LiveWorld* world = live.load()) world->engine().note_at_work(rank);
  };
  callbacks.on_silent_link = [](int one, int other) {
    if (LiveWorld* world = live.load()) world->engine().note_silent_link(one, other);
  };
  return callbacks;
}

void begin() {
  watch_fatal_signals();
  char** const environment = take_environment();
  if (is_for_others()) {
    close_clocks();
    return close_system();
  }
  CallsMutex::note_thread_level();
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  ParsedOptions parsed = parse_environment(environment, size);
  if (parsed.error.empty()) parsed.error = choose_specs(parsed.options);
  if (!parsed.error.empty()) refuse(parsed.error);
  watch_for_leaving();
  bear_broken_pipes();
  try {
    auto* world =
        new LiveWorld(parsed.options, bring_up(parsed.options, callbacks_with(parsed.options)));
    live.store(world);
    Job& job = world->job();
    const bool watches = goes_on_without(world->options());
    job.lifeline->connect(job.peers, std::move(job.tree),
                          watches ? job.transport->death_marks() : runtime::DeathMarks());
  } catch (const std::system_error& error) {
    // The others wait for this process: the launcher sees its end, and ends the job.
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "resprout: rank %d cannot start: %s\n", rank, error.what());
    std::_Exit(2);
  }
  open_revocations(live.load()->engine());
  if (ulfm::is_active()) make_sends_last();
  {
    runtime::Lock lock = live.load()->engine().lock();
    session_of(MPI_COMM_WORLD, lock);
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  if (!are_own(live.load()->options().collectives)) {
    open_natives(drive_from_inside);
    make_native(MPI_COMM_WORLD);
  }
  install_error_handlers();
  find_references(communicator_of_own());
  open_requests();
  open_carrier_pool();
  open_creation_communicator();
  if (live.load()->options().is_replicated()) join_other_planes(*live.load());
  leave_together();
  say_that_all_are_in();
  listen_to_questions();
  if (stands_by(environment)) stand_by();
  arm_faults(live.load()->options(), live.load()->rank());
  static const Report& report = live.load()->report();  // outlives the world
  note_running({.calls = [] { return report.steps(); }, .describe_waiting = write_waiting});
}

// Everybody has all it needs of everybody else, and knows that who leaves now is not lost.
void end() {
  LiveWorld* world = live.load();
  runtime::Engine& engine = world->engine();
  finish_send_halves();
  const VerificationFigures figures =
      world->options().stands_in() ? close_replica_substitution() : close_verification();
  if (world->options().verify) world->report().note_verification(figures);
  if (LastingCheckpoints* kept = LastingCheckpoints::if_any()) kept->finish();
  leave_persistent();
  end_all_lingering();
  {
    runtime::Lock lock = engine.lock();
    engine.finish_tasks(lock);
    finish_departures(engine, lock);
    runtime::Session* session = session_of(MPI_COMM_WORLD, lock);
    if (session != nullptr && session->is_revoked())
      session = repair_session_of(MPI_COMM_WORLD, lock);
    if (session != nullptr) runtime::barrier(*session, lock);
    engine.wait_until_flushed(lock);
  }
  close_requests();
  world->death_mark().stop();
  world->job().lifeline->leave();
  remove_left_behind(*world);
  world->report().note_transport("rejected_connections",
                                 world->job().lifeline->rejected_connections() +
                                     world->job().transport->rejected_connections());
  world->report().note_faults_left(faults_left());
  world->report().note_finalized();
  close_revocations();
  close_natives();
  close_carrier_pool();
  close_creation_communicator();
  forget_communicators();
  live.store(nullptr);
}

}  // namespace

World* World::current() { return live.load(std::memory_order_acquire); }

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int MPI_Init(int* argc, char*** argv) {
  note_entered();
  resprout::runtime::DeathMarks::prepare();
  begin_position();
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) begin();
  return code;
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  note_entered();
  resprout::runtime::DeathMarks::prepare();
  begin_position();
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin();
  return code;
}

extern "C" int MPI_Finalize() {
  if (is_cut_off()) {
    finalize_cut_off();
    return MPI_SUCCESS;
  }
  bool can_mpi_finalize = true;
  std::string run_directory;
  if (const World* world = World::current()) {
    note_phase(Phase::ending);
    entering("finalize");
    can_mpi_finalize = ulfm::finalizes_after_loss || world->lost_count() == 0;
    run_directory = world->options().run_directory;
    note_in_finalize(true);
    end();
  }
  int code = MPI_SUCCESS;
  const auto finalize = [&code] { code = PMPI_Finalize(); };
  const bool is_finalized = can_mpi_finalize && unless_killed(run_directory.c_str(), finalize);
  if (!is_finalized) finalize_without_mpi();
  note_in_finalize(false);
  note_phase(Phase::over);
  return code;
}

extern "C" int MPI_Abort(MPI_Comm comm, int errorcode) {
  LiveWorld* world = live.load();
  if (world == nullptr) return PMPI_Abort(comm, errorcode);
  if (is_cut_off()) end_cut_off("it called MPI_Abort");
  world->end_job(errorcode, "resprout: rank " + std::to_string(world->rank()) +
                                " called MPI_Abort(" + std::to_string(errorcode) +
                                "): the job ends");
}

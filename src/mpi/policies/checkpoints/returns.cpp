#include "mpi/policies/checkpoints/returns.hpp"

#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "mpi/policies/checkpoints/wait_note.hpp"
#include "mpi/policies/files/shadows.hpp"
#include "runtime/idle.hpp"
#include "runtime/replicas/states.hpp"

namespace resprout::shim {

using runtime::Return;

namespace {

// The launcher has left word that a plane which is left alone waits at its next checkpoint for one
// that comes back (--on-unverified wait).
bool is_return_waited_for(const std::string& job) {
  return access((job + "/wait-for-return").c_str(), F_OK) == 0;
}

}  // namespace

Returns::Returns(Setup setup, std::string discovery)
    : setup_(std::move(setup)), discovery_(std::move(discovery)) {
  if (runtime::comes_back(discovery_, setup_.plane)) muted_ = std::make_unique<Muted>();
}

void Returns::say_that_there_are_checkpoints() const {
  if (setup_.rank == 0)
    runtime::say_that_there_are_checkpoints(runtime::job_of_discovery(discovery_));
}

// Rank 0 follows what is decided, the others of its plane follow rank 0.
std::optional<Return> Returns::due() {
  WaitNote note(setup_.run_directory, setup_.rank);
  const auto meanwhile = [&] {
    setup_.meanwhile();
    note.look();
  };
  Return found;
  if (setup_.rank == 0) {
    const std::string job = runtime::job_of_discovery(discovery_);
    const auto look = [&] {
      auto waiting =
          runtime::waiting_return(job, runtime::return_of_discovery(discovery_), setup_.planes);
      if (waiting) waiting->decider = setup_.plane;
      return waiting;
    };
    // This plane is alone then, so it decides.
    for (runtime::Idle idle{runtime::IdleStrategy{}}; is_return_waited_for(job) && !look();
         idle.pause())
      meanwhile();
    found = setup_.decided.take_in(look, meanwhile).value_or(Return{});
  }
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibcast(&found, sizeof found, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  runtime::Idle idle{runtime::IdleStrategy{}};
  for (int is_over = 0; is_over == 0;) {
    PMPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    if (is_over != 0) break;
    meanwhile();
    idle.pause();
  }
  return found.number != 0 ? std::optional(found) : std::nullopt;
}

void Returns::take_in(const Return& found, std::span<const std::byte> state) {
  std::fflush(nullptr);  // who dies on the way has said that
  discovery_ = runtime::discovery_of_return(runtime::job_of_discovery(discovery_), found.number);
  if (setup_.rank == 0 && setup_.plane == found.decider) give_files(found.plane);
  setup_.regroup(discovery_);
  runtime::give_state(setup_.peer_planes.links, {found.plane, setup_.rank}, state);
  mark();
}

// While all processes of this plane, and of that one, are here.
void Returns::give_files(std::int32_t plane) const {
  const Shadows own({setup_.run_directory, setup_.plane, setup_.planes});
  if (const int error = own.give_all(plane); error == 0)
    runtime::say_files_given(discovery_);
  else
    std::fprintf(stderr, "resprout: plane %d cannot have the files of plane %d: %s\n", plane,
                 setup_.plane, std::strerror(error));
}

std::optional<std::vector<std::byte>> Returns::wait() {
  setup_.regroup(discovery_);
  runtime::Idle idle{runtime::IdleStrategy{}};
  for (;;) {
    // Asked first: what the last one has said is here when it is lost.
    const bool is_hopeless = setup_.peer_planes.states.is_hopeless();
    auto state = setup_.peer_planes.states.take();
    if (state && runtime::are_files_given(discovery_)) return state;
    if (state || is_hopeless) return std::nullopt;
    setup_.meanwhile();
    idle.pause();
  }
}

void Returns::join(std::uint64_t checkpoint) {
  PMPI_Barrier(MPI_COMM_WORLD);
  if (setup_.rank == 0) runtime::say_joined(discovery_, checkpoint);
  muted_.reset();
  mark();
}

// Tells the launcher where in its output each rank is: at the same place in all planes. No program
// says the same: only this job has that folder.
void Returns::mark() const {
  std::fflush(nullptr);
  const std::string text = "\x1eresprout-return " + discovery_ + "\n";
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat is{};
    // What the program has put in their place is its own.
    if (fstat(descriptor, &is) != 0 || S_ISREG(is.st_mode)) continue;
    // Where it cannot be said nobody reads it.
    [[maybe_unused]] const ssize_t written = write(descriptor, text.data(), text.size());
  }
}

}  // namespace resprout::shim

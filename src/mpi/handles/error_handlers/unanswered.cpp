#include "mpi/handles/error_handlers/unanswered.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/error_handlers/unanswered_window.hpp"
#include "mpi/handles/errors/wrappings.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/names.hpp"
#include "mpi/process/report/json.hpp"
#include "mpi/process/report/notes.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {
namespace {

constexpr std::size_t named_ranks_max = 8;

// Sends to the dead, and what only asks whether something is there, and says so.
constexpr std::array<std::string_view, 17> calls_that_lack_nothing{
    "send",   "ssend",    "rsend",     "bsend",      "isend",        "issend",
    "irsend", "ibsend",   "send_init", "ssend_init", "rsend_init",   "bsend_init",
    "start",  "startall", "iprobe",    "improbe",    "buffer_detach"};

// Neighbors get what the living give. What makes something gives no data: who goes on without it
// gets an error. What repairs a communicator is there to be told.
constexpr std::array<std::string_view, 9> families_that_lack_nothing{
    "neighbor_", "ineighbor_",  "comm_", "intercomm_", "cart_",
    "graph_",    "dist_graph_", "win_",  "file_"};

std::string in_words(const std::vector<int>& ranks) {
  if (ranks.empty()) return "a process";
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), named_ranks_max); ++i) {
    const bool is_last = i + 1 == ranks.size();
    if (i > 0) text += is_last ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  if (ranks.size() > named_ranks_max)
    text += " and " + std::to_string(ranks.size() - named_ranks_max) + " more";
  return text;
}

std::string named_ranks(const std::vector<int>& ranks) {
  if (ranks.empty()) return "a process that is lost";
  return in_words(ranks) + (ranks.size() == 1 ? ", which is lost" : ", which are lost");
}

std::vector<int> lost_members(MPI_Comm comm) {
  const std::vector<int>& world_ranks = communicator_of(comm)->world_ranks;
  const std::vector<int> by_mpi = failed_by_mpi(comm);
  std::vector<int> lost;
  for (int rank = 0; rank < static_cast<int>(world_ranks.size()); ++rank)
    if (is_lost(comm, rank) || std::find(by_mpi.begin(), by_mpi.end(), rank) != by_mpi.end())
      lost.push_back(world_ranks[static_cast<std::size_t>(rank)]);
  return lost;
}

std::string name_of_window(MPI_Win window) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Win_get_name(window, name, &length);
  return *name != '\0' ? name : "a window without a name";
}

Handling handling_of(MPI_Errhandler handler) {
  if (handler == MPI_ERRORS_RETURN) return Handling::returns;
  return is_fatal(handler) ? Handling::ends_job : Handling::as_program_says;
}

// For the report, once in a process: it may be ended at any moment from here on.
void note(const Unanswered& unanswered, const Following& following) {
  static std::atomic<bool> is_noted{false};
  if (is_noted.exchange(true)) return;
  Json json;
  json.begin_object().key("call").string(unanswered.call);
  json.key("communicator").string(unanswered.communicator).key("lost").begin_array();
  for (const int rank : unanswered.lost) json.number(rank);
  json.end_array().key("calls_handler").boolean(following.calls_handler);
  json.key("ends_job").boolean(following.ends_job).key("at_ns").number(wall_clock_ns());
  json.end_object();
  Notes(World::current()->options().run_directory, unanswered.rank).add("unanswered", json);
}

// Does not return. Many may find it at once, and one of them says it. The others give it the time
// to end them.
void end_job_over(const Unanswered& unanswered, OnUnanswered on_unanswered) {
  constexpr std::chrono::seconds patience{3};
  World& world = *World::current();
  const bool is_first = world.report().claim("unanswered");
  if (!is_first) std::this_thread::sleep_for(patience);
  world.report().note_exit(unanswered_exit_status);
  world.end_job(unanswered_exit_status, is_first ? line_of(unanswered, on_unanswered) : "");
}

template <typename CallHandler>
void follow(const Unanswered& unanswered, MPI_Errhandler handler, const CallHandler& call_handler) {
  const Options& options = World::current()->options();
  // This process ends, or siblings know the data.
  if (!goes_on_without(options)) return;
  const Following following = what_follows(options.on_unanswered, handling_of(handler));
  note(unanswered, following);
  if (following.calls_handler) call_handler();
  if (following.ends_job) end_job_over(unanswered, options.on_unanswered);
}

}  // namespace

Lacks lacked_by(std::string_view call) {
  const bool lacks_nothing =
      std::ranges::find(calls_that_lack_nothing, call) != calls_that_lack_nothing.end() ||
      std::ranges::any_of(families_that_lack_nothing,
                          [&](std::string_view family) { return call.starts_with(family); });
  return lacks_nothing ? Lacks::nothing : Lacks::data;
}

Following what_follows(OnUnanswered on_unanswered, Handling handling) {
  const bool is_fatal = handling == Handling::ends_job;
  return {.calls_handler = handling == Handling::as_program_says,
          .ends_job = on_unanswered == OnUnanswered::abort ||
                      (on_unanswered == OnUnanswered::handler && is_fatal)};
}

std::string line_of(const Unanswered& unanswered, OnUnanswered on_unanswered) {
  const bool is_asked_for = on_unanswered == OnUnanswered::abort;
  const std::string on =
      unanswered.communicator.empty() ? "a communicator without a name" : unanswered.communicator;
  return "resprout: rank " + std::to_string(unanswered.rank) + ": " + unanswered.call + " on " +
         on + " needs data of " + named_ranks(unanswered.lost) + ": the job ends with status " +
         std::to_string(unanswered_exit_status) + ", as " +
         (is_asked_for ? "--on-unanswered abort says" : "its error handler is fatal") + "; with " +
         (is_asked_for ? "--on-unanswered handler and " : "") +
         "MPI_ERRORS_RETURN, or with --on-unanswered ignore, it would go on; --replicas and "
         "checkpoints keep the data";
}

std::string loss_met_by(MPI_Comm comm, const char* call) {
  return mpi_name_of(call) + " meets the loss of " + in_words(lost_members(comm));
}

void follow_unanswered(MPI_Comm comm, const char* call, const std::function<void()>& call_handler) {
  follow(
      {World::current()->rank(), mpi_name_of(call), name_of_communicator(comm), lost_members(comm)},
      handler_of_program(comm), call_handler);
}

void follow_unanswered_window(MPI_Win window, MPI_Comm comm, const char* call, int code) {
  World::current()->report().count_error(call);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_get_errhandler(window, &handler);  // the program's
  follow({World::current()->rank(), mpi_name_of(call), name_of_window(window), lost_members(comm)},
         handler, [&] { PMPI_Win_call_errhandler(window, code); });
  PMPI_Errhandler_free(&handler);
}

}  // namespace resprout::shim

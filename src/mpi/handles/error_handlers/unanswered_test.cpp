#include "mpi/handles/error_handlers/unanswered.hpp"

#include "doctest/doctest.h"

using namespace resprout::shim;

namespace {

bool has(const std::string& line, const std::string& words) {
  return line.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a call lacks data unless it only sends, looks, makes, or hears from several neighbors") {
  for (const char* call : {"recv", "wait", "waitall", "probe", "sendrecv", "bcast", "iscatterv"})
    CHECK(lacked_by(call) == Lacks::data);
  for (const char* call : {"send", "isend", "start", "iprobe", "neighbor_allgather",
                           "ineighbor_alltoallw", "comm_agree", "win_create"})
    CHECK(lacked_by(call) == Lacks::nothing);
}

TEST_CASE("a fatal handler ends the job, unless that is not wanted") {
  CHECK(what_follows(OnUnanswered::handler, Handling::ends_job) == Following{false, true});
  CHECK(what_follows(OnUnanswered::ignore, Handling::ends_job) == Following{false, false});
  CHECK(what_follows(OnUnanswered::abort, Handling::ends_job) == Following{false, true});
}

TEST_CASE("a handler that returns does so, unless the job is to end in any case") {
  CHECK(what_follows(OnUnanswered::handler, Handling::returns) == Following{false, false});
  CHECK(what_follows(OnUnanswered::ignore, Handling::returns) == Following{false, false});
  CHECK(what_follows(OnUnanswered::abort, Handling::returns) == Following{false, true});
}

TEST_CASE("a handler of the program is always called") {
  CHECK(what_follows(OnUnanswered::handler, Handling::as_program_says) == Following{true, false});
  CHECK(what_follows(OnUnanswered::ignore, Handling::as_program_says) == Following{true, false});
  CHECK(what_follows(OnUnanswered::abort, Handling::as_program_says) == Following{true, true});
}

TEST_CASE("the line says which call, who is lost, and what would let the job go on") {
  const Unanswered unanswered{3, "MPI_Recv", "field", {0, 5}};
  const std::string line = line_of(unanswered, OnUnanswered::handler);
  CHECK(has(line, "rank 3: MPI_Recv on field needs data of ranks 0 and 5, which are lost"));
  CHECK(has(line, "ends with status 75, as its error handler is fatal"));
  CHECK(has(line, "MPI_ERRORS_RETURN"));
  CHECK(has(line, "--on-unanswered ignore"));
  CHECK(has(line_of(unanswered, OnUnanswered::abort), "as --on-unanswered abort says"));
}

TEST_CASE("the line names a few of many lost ranks, and says so if none is known") {
  const auto line = [](std::vector<int> lost) {
    return line_of({1, "MPI_Wait", "", std::move(lost)}, OnUnanswered::handler);
  };
  CHECK(has(line({0}), "MPI_Wait on a communicator without a name needs data of rank 0, which is"));
  CHECK(has(line({0, 2, 3, 4, 5, 6, 7, 8, 9, 10}), "0, 2, 3, 4, 5, 6, 7, 8 and 2 more, which are"));
  CHECK(has(line({}), "needs data of a process that is lost"));
}

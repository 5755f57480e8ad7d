#include "mpi/lifecycle/report/waiting.hpp"

#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/process/inside_call.hpp"
#include "mpi/process/names.hpp"
#include "mpi/process/report/json.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {
namespace {

const char* name_of(CurrentCall::Needs needs) {
  switch (needs) {
    case CurrentCall::Needs::unknown:
      return "unknown";
    case CurrentCall::Needs::peer:
      return "peer";
    case CurrentCall::Needs::members:
      return "members";
  }
  __builtin_unreachable();
}

std::vector<int> needed_ranks(const CurrentCall& call) {
  if (call.needs == CurrentCall::Needs::unknown) return {};
  if (call.needs == CurrentCall::Needs::members || call.peer == MPI_ANY_SOURCE)
    return communicator_of(call.comm)->world_ranks;
  if (call.peer < 0) return {};
  return {World::current()->world_rank_of(call.comm, call.peer)};
}

}  // namespace

void write_waiting(const std::string& path, std::uint64_t calls) {
  if (World::current() == nullptr || !InsideCall::is_any()) return;
  const CurrentCall& call = InsideCall::of_program();
  if (call.name == nullptr) return;
  const bool is_on_one = call.comm != MPI_COMM_NULL;
  Communicator* communicator = is_on_one ? communicator_of(call.comm) : nullptr;
  const bool has_session = is_on_one && communicator->session != nullptr;
  const std::uint64_t number =
      call.needs == CurrentCall::Needs::members ? communicator->calls.current(call.name) : 0;
  Json json;
  json.begin_object().key("call").string(mpi_name_of(call.name));
  json.key("communicator").string(is_on_one ? name_of_communicator(call.comm) : "");
  json.key("session").number(
      static_cast<std::int64_t>(has_session ? communicator->session->id() : 0));
  json.key("number").number(static_cast<std::int64_t>(number));
  json.key("needs").string(name_of(call.needs)).key("ranks").begin_array();
  for (const int rank : needed_ranks(call)) json.number(rank);
  json.end_array().key("calls").number(static_cast<std::int64_t>(calls)).end_object();
  write_whole_file(path, json.text());
}

}  // namespace resprout::shim

// New windows. Where the job is to go on after losses their fences are ours, so they get
// a communicator of their own (fenced_window.hpp); if the MPI library can make no communicator any
// more it makes the window of each process apart. All others it makes out of communicators that
// are whole (if_whole.hpp).
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/carriers/anybody.hpp"
#include "mpi/carriers/if_whole.hpp"
#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/error_handlers/refusal.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/handles/mpich/breaking_off.hpp"
#include "mpi/handles/openmpi/making.hpp"
#include "mpi/handles/openmpi/making_windows.hpp"
#include "mpi/handles/windows/windows.hpp"
#include "mpi/operations/rma/fenced_window.hpp"
#include "mpi/policies/replicas/lone_calls.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/info_value.hpp"
#include "mpi/process/names.hpp"
#include "mpi/process/own_calls.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// What the program has asked for, or has got.
struct Asked {
  const char* name;  // the lower-case MPI name
  MPI_Comm comm;
  MPI_Info info;
  WindowMemory memory;
  void* allocated = nullptr;  // where the library says what it has allocated; null: it does not
  bool is_dynamic = false;
  bool is_for_loads = false;  // of what is allocated: others load and store in it
};

bool has_own_fences(const Asked& asked) {
  const World* world = World::current();
  if (world == nullptr || asked.comm == MPI_COMM_NULL || !ulfm::outlives_losses()) return false;
  const Options& options = world->options();
  if (ends_with_first_loss(options)) return false;
  // What siblings write in the place of the lost has addresses of their own planes.
  if (options.stands_in() && asked.is_dynamic) return false;
  Communicator& communicator = *communicator_of(asked.comm);
  if (communicator.is_inter || communicator.is_native || communicator.world_ranks.size() == 1 ||
      session_of(communicator, asked.comm) == nullptr)
    return false;
  const auto hint =
      asked.info != MPI_INFO_NULL ? value_of(asked.info, "resprout_fences") : std::nullopt;
  if (!hint || *hint == "own") return true;
  if (*hint == "native") return false;
  if (communicator.rank == 0)
    std::fprintf(stderr, "resprout: resprout_fences: %s is neither own nor native; it is own\n",
                 hint->c_str());
  return true;
}

// `native()` is MPI's own call. If a loss falls into it the library calls that an error of windows,
// or does not come back. Whoever can do without the library's windows sees to it that it does
// (handles/openmpi/making_windows.hpp); others end, if siblings stand in for them.
template <typename Native>
int call_mpi(const Asked& asked, bool is_fenced, Native native) {
  const bool can_do_without = is_fenced && !asked.is_for_loads;
  const LoneCall alone(can_do_without ? MPI_COMM_NULL : asked.comm, asked.name);
  const QuietMaking quiet;
  const int code = unless_lost([&] { return native(asked.comm, is_fenced); });
  if (code != MPI_SUCCESS) alone.end_if_lost();
  return code;
}

template <typename Native>
int make_natively(const Asked& asked, MPI_Win* made, Native native) {
  const int code = if_whole(asked.comm, asked.name, [&] {
    if (World::current() == nullptr || asked.comm == MPI_COMM_NULL)
      return native(asked.comm, false);
    const int said = call_mpi(asked, false, native);
    return has_met_loss(said) ? finish(asked.comm, asked.name, proc_failed()) : said;
  });
  if (code == MPI_SUCCESS && World::current() != nullptr) note_window(*made);
  return code;
}

// Others may have what this process has not: then nobody uses it.
bool has_anybody_met_loss(MPI_Comm own, bool is_here) {
  runtime::Lock lock = World::current()->engine().lock();
  return does_anybody_say(*session_of(own, lock), lock, is_here);
}

// Of everybody in `comm`, so that it has the same ranks.
int make_own_communicator(MPI_Comm comm, MPI_Comm* own) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  const int code = MPI_Comm_create(comm, group, own);
  MPI_Group_free(&group);
  if (code == MPI_SUCCESS) MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
  return code;
}

// By rank; empty: the library has none that is shared, or does not say where. Where siblings stand
// in they have to hear what is written, and nobody may write past them.
std::vector<std::byte*> shared_memory(MPI_Win window, std::size_t size) {
  if (World::current()->options().is_replicated()) return {};
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Win_get_errhandler(window, &handler);
  PMPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  std::vector<std::byte*> shared;
  for (std::size_t rank = 0; rank < size; ++rank) {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* base = nullptr;
    // MPI 4.1 says so of memory that is not shared by giving none.
    if (PMPI_Win_shared_query(window, static_cast<int>(rank), &bytes, &unit, &base) !=
            MPI_SUCCESS ||
        base == nullptr)
      break;
    shared.push_back(static_cast<std::byte*>(base));
  }
  PMPI_Win_set_errhandler(window, handler);
  PMPI_Errhandler_free(&handler);
  return shared.size() == size ? shared : std::vector<std::byte*>();
}

// Nothing: the MPI library cannot make it, as somebody is lost, and nobody has it.
template <typename Native>
std::optional<int> make_together(const Asked& asked, MPI_Comm own, MPI_Win* made, Native native) {
  if (is_derived(own)) return std::nullopt;
  const MakingWindow making([own](bool is_here) { return has_anybody_met_loss(own, is_here); });
  const int code = call_mpi(asked, true, native);
  if (making.is_broken()) {
    if (code == MPI_SUCCESS) PMPI_Win_free(made);
  } else {
    const bool is_here = has_met_loss(code);
    if (is_here) end_turn();
    if (!has_anybody_met_loss(own, is_here)) return code;
  }
  note_broken_making();
  return std::nullopt;
}

template <typename Native>
int make_fenced(const Asked& asked, MPI_Win* made, Native native) {
  count_call(*World::current(), asked.name);
  const OwnCalls calls;
  MPI_Comm own = MPI_COMM_NULL;
  if (const int code = make_own_communicator(asked.comm, &own); code != MPI_SUCCESS) return code;
  std::optional<int> code = make_together(asked, own, made, native);
  FencedWindow::Made facts{.is_apart = !code,
                           .is_dynamic = asked.is_dynamic,
                           .is_allocated = asked.allocated != nullptr && !asked.is_for_loads,
                           .memory = asked.memory,
                           .shared = {}};
  if (!code && asked.is_for_loads) {
    call_policy().on_failure(mpi_name_of(asked.name),
                             "meets a loss for which others cannot stand in");
    MPI_Comm_free(&own);
    return is_derived(asked.comm) ? refuse_derived(asked.comm, asked.name)
                                  : finish(asked.comm, asked.name, proc_failed());
  }
  if (!code) code = native(MPI_COMM_SELF, true);
  if (*code != MPI_SUCCESS) {
    MPI_Comm_free(&own);
    return *code;
  }
  if (asked.allocated != nullptr) std::memcpy(&facts.memory.base, asked.allocated, sizeof(void*));
  if (!facts.is_apart && !facts.is_dynamic)
    facts.shared = shared_memory(*made, communicator_of(own)->world_ranks.size());
  note_window(*made, std::make_unique<FencedWindow>(own, facts));
  return MPI_SUCCESS;
}

// `native(comm, is_fenced)`: MPI's own call, on that communicator; whether fences are to be ours.
template <typename Native>
int make_window(const Asked& asked, MPI_Win* made, Native native) {
  return has_own_fences(asked) ? make_fenced(asked, made, native)
                               : make_natively(asked, made, native);
}

// Where all are on one host it allocates memory that they share, each a part of its own: there the
// fences of others may be copies, which the library hides in windows that it allocates.
int allocate(const Asked& asked, MPI_Comm comm, bool is_fenced, void* base, MPI_Win* win) {
  const auto& [bytes, unit] = std::pair(asked.memory.bytes, asked.memory.unit);
  if (!is_fenced || comm == MPI_COMM_SELF || World::current()->options().is_replicated() ||
      !communicator_of(comm)->session->is_on_one_host())
    return PMPI_Win_allocate(bytes, unit, asked.info, comm, base, win);
  MPI_Info apart = MPI_INFO_NULL;
  asked.info == MPI_INFO_NULL ? PMPI_Info_create(&apart) : PMPI_Info_dup(asked.info, &apart);
  PMPI_Info_set(apart, "alloc_shared_noncontig", "true");
  const int code = PMPI_Win_allocate_shared(bytes, unit, apart, comm, base, win);
  PMPI_Info_free(&apart);
  return code;
}

WindowMemory memory_of(void* base, MPI_Aint bytes, int unit) {
  return {static_cast<std::byte*>(base), bytes, unit};
}

}  // namespace

extern "C" int MPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info,
                              MPI_Comm comm, MPI_Win* win) {
  return make_window({.name = "win_create",
                      .comm = comm,
                      .info = info,
                      .memory = memory_of(base, size, disp_unit)},
                     win, [&](MPI_Comm of, bool) {
                       return PMPI_Win_create(base, size, disp_unit, info, of, win);
                     });
}

extern "C" int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                void* baseptr, MPI_Win* win) {
  const Asked asked{.name = "win_allocate",
                    .comm = comm,
                    .info = info,
                    .memory = memory_of(nullptr, size, disp_unit),
                    .allocated = baseptr};
  return make_window(asked, win, [&](MPI_Comm of, bool is_fenced) {
    return allocate(asked, of, is_fenced, baseptr, win);
  });
}

extern "C" int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                       void* baseptr, MPI_Win* win) {
  return make_window({.name = "win_allocate_shared",
                      .comm = comm,
                      .info = info,
                      .memory = memory_of(nullptr, size, disp_unit),
                      .allocated = baseptr,
                      .is_for_loads = true},
                     win, [&](MPI_Comm of, bool) {
                       return PMPI_Win_allocate_shared(size, disp_unit, info, of, baseptr, win);
                     });
}

extern "C" int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return make_window({.name = "win_create_dynamic",
                      .comm = comm,
                      .info = info,
                      .memory = memory_of(nullptr, 0, 1),
                      .is_dynamic = true},
                     win,
                     [&](MPI_Comm of, bool) { return PMPI_Win_create_dynamic(info, of, win); });
}

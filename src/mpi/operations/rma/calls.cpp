// One-sided communication: accesses in epochs of fences, and fences, are ours where the job is to
// go on after losses (fenced_window.hpp). All else is the MPI library's own. That may wait for a
// lost target for ever; where siblings stand in, whoever waits then ends (lone_calls.hpp). What it
// gives may differ among replicas, as who comes first does: where that would be harm such calls are
// refused.
#include <cctype>
#include <cstdio>

#include "mpi/carriers/call.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/error_handlers/unanswered_window.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/windows/windows.hpp"
#include "mpi/operations/rma/fenced_window.hpp"
#include "mpi/policies/replicas/lone_calls.hpp"
#include "mpi/policies/replicas/refusal.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/names.hpp"
#include "mpi/process/world.hpp"

using namespace resprout::shim;

namespace {

// `code`, which the window's handler has not seen.
int told(MPI_Win win, int code) {
  if (code != MPI_SUCCESS) PMPI_Win_call_errhandler(win, code);
  return code;
}

// As `told`; if the fence has not brought what was to be read from the lost, as unanswered.hpp
// says.
int told_of_fence(MPI_Win win, const FencedWindow& fenced, int code) {
  if (!is_loss(code) || is_for_program(code)) return told(win, code);
  follow_unanswered_window(win, fenced.comm(), "win_fence", code);
  return code;
}

int refuse_apart(MPI_Win win, const char* name) {
  call_policy().on_failure(mpi_name_of(name),
                           "does not work on a window that was made after a loss");
  std::fprintf(stderr,
               "resprout: rank %d: MPI_%c%s does not work on a window that was made after a loss, "
               "which has fences only (docs/reference/calls.md)\n",
               World::current()->rank(), std::toupper(name[0]), name + 1);
  return told(win, MPI_ERR_RMA_SYNC);
}

// The library's own call, of an epoch that is its own. `name`: the lower-case MPI name.
template <typename Native>
int leave_to_mpi(MPI_Win win, const char* name, Native native) {
  const FencedWindow* fenced = fenced_window(win);
  if (fenced != nullptr && fenced->is_apart()) return refuse_apart(win, name);
  const LoneCall alone(win, name);
  return native();
}

// The same with what comes of it for epochs, if it ends well.
template <typename Native, typename Note>
int leave_to_mpi(MPI_Win win, const char* name, Native native, Note note) {
  const int code = leave_to_mpi(win, name, native);
  if (FencedWindow* fenced = fenced_window(win); code == MPI_SUCCESS && fenced != nullptr)
    note(*fenced);
  return code;
}

// The same of what begins or ends an epoch of locks.
template <typename Native, typename Note>
int leave_lock_to_mpi(MPI_Win win, const char* name, int more, Native native, Note note) {
  const int code = leave_to_mpi(win, name, native, note);
  if (code == MPI_SUCCESS) note_locks(win, more);
  return code;
}

// What an access of the library's gives to this process.
enum class Gives {
  nothing,
  what_is_there,   // others may write it meanwhile, without this process, in epochs of locks
  what_was_there,  // before its own change: who has come first changes it
};

// Others have a part in what this access to `rank` gives, and the replicas of this rank need not
// agree what that is: ends the job where they have to.
void refuse_what_may_differ(MPI_Win win, int rank, const char* name, Gives gives) {
  if (verified_messages.load(std::memory_order_acquire) == nullptr) [[likely]]
    return;
  if (gives == Gives::nothing || win == MPI_WIN_NULL || rank == MPI_PROC_NULL) return;
  if (gives == Gives::what_is_there && !is_locked(win)) return;
  if (members_of(win).size() > 1)
    refuse_unverifiable(mpi_name_of(name).c_str(), "may give something else in each replica");
}

// An access to `rank`, by `ours(window)` if fences are around it: these carry it out in the same
// order in all replicas.
template <typename Ours, typename Native>
int access(MPI_Win win, int rank, const char* name, Gives gives, Ours ours, Native native) {
  FencedWindow* fenced = fenced_window(win);
  if (fenced != nullptr && fenced->has_fences_for(rank)) return told(win, ours(*fenced));
  refuse_what_may_differ(win, rank, name, gives);
  return leave_to_mpi(win, name, native);
}

// One whose request the program completes later: these are for epochs of locks only.
template <typename Native>
int start_access(MPI_Win win, int rank, const char* name, Gives gives, MPI_Request* request,
                 Native native) {
  refuse_what_may_differ(win, rank, name, gives);
  const FencedWindow* fenced = fenced_window(win);
  if (fenced != nullptr && fenced->is_apart()) return refuse_apart(win, name);
  LoneStart alone(win, name);
  return alone.go_on_as(native(), request);
}

}  // namespace

// --- access
// ----------------------------------------------------------------------------------

extern "C" int MPI_Accumulate(const void* origin, int count, MPI_Datatype type, int rank,
                              MPI_Aint at, int count_there, MPI_Datatype type_there, MPI_Op op,
                              MPI_Win win) {
  return access(
      win, rank, "accumulate", Gives::nothing,
      [&](FencedWindow& fenced) {
        return fenced.accumulate({origin, count, type}, rank, {at, count_there, type_there}, op);
      },
      [&] {
        return PMPI_Accumulate(origin, count, type, rank, at, count_there, type_there, op, win);
      });
}

extern "C" int MPI_Compare_and_swap(const void* origin, const void* expected, void* result,
                                    MPI_Datatype type, int rank, MPI_Aint at, MPI_Win win) {
  return access(
      win, rank, "compare_and_swap", Gives::what_was_there,
      [&](FencedWindow& fenced) {
        return fenced.compare_and_swap(origin, expected, {result, 1, type}, rank, {at, 1, type});
      },
      [&] { return PMPI_Compare_and_swap(origin, expected, result, type, rank, at, win); });
}

extern "C" int MPI_Fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                                MPI_Aint at, MPI_Op op, MPI_Win win) {
  return access(
      win, rank, "fetch_and_op", Gives::what_was_there,
      [&](FencedWindow& fenced) {
        return fenced.get_accumulate({origin, 1, type}, {result, 1, type}, rank, {at, 1, type}, op);
      },
      [&] { return PMPI_Fetch_and_op(origin, result, type, rank, at, op, win); });
}

extern "C" int MPI_Get(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                       int count_there, MPI_Datatype type_there, MPI_Win win) {
  return access(
      win, rank, "get", Gives::what_is_there,
      [&](FencedWindow& fenced) {
        return fenced.get({origin, count, type}, rank, {at, count_there, type_there});
      },
      [&] { return PMPI_Get(origin, count, type, rank, at, count_there, type_there, win); });
}

extern "C" int MPI_Get_accumulate(const void* origin, int count, MPI_Datatype type, void* result,
                                  int result_count, MPI_Datatype result_type, int rank, MPI_Aint at,
                                  int count_there, MPI_Datatype type_there, MPI_Op op,
                                  MPI_Win win) {
  return access(
      win, rank, "get_accumulate", Gives::what_was_there,
      [&](FencedWindow& fenced) {
        return fenced.get_accumulate({origin, count, type}, {result, result_count, result_type},
                                     rank, {at, count_there, type_there}, op);
      },
      [&] {
        return PMPI_Get_accumulate(origin, count, type, result, result_count, result_type, rank, at,
                                   count_there, type_there, op, win);
      });
}

extern "C" int MPI_Put(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                       int count_there, MPI_Datatype type_there, MPI_Win win) {
  return access(
      win, rank, "put", Gives::nothing,
      [&](FencedWindow& fenced) {
        return fenced.put({origin, count, type}, rank, {at, count_there, type_there});
      },
      [&] { return PMPI_Put(origin, count, type, rank, at, count_there, type_there, win); });
}

// --- access by requests
// ----------------------------------------------------------------------------------

extern "C" int MPI_Raccumulate(const void* origin, int count, MPI_Datatype type, int rank,
                               MPI_Aint at, int count_there, MPI_Datatype type_there, MPI_Op op,
                               MPI_Win win, MPI_Request* request) {
  return start_access(win, rank, "raccumulate", Gives::nothing, request, [&] {
    return PMPI_Raccumulate(origin, count, type, rank, at, count_there, type_there, op, win,
                            request);
  });
}

extern "C" int MPI_Rget(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                        int count_there, MPI_Datatype type_there, MPI_Win win,
                        MPI_Request* request) {
  return start_access(win, rank, "rget", Gives::what_is_there, request, [&] {
    return PMPI_Rget(origin, count, type, rank, at, count_there, type_there, win, request);
  });
}

extern "C" int MPI_Rget_accumulate(const void* origin, int count, MPI_Datatype type, void* result,
                                   int result_count, MPI_Datatype result_type, int rank,
                                   MPI_Aint at, int count_there, MPI_Datatype type_there, MPI_Op op,
                                   MPI_Win win, MPI_Request* request) {
  return start_access(win, rank, "rget_accumulate", Gives::what_was_there, request, [&] {
    return PMPI_Rget_accumulate(origin, count, type, result, result_count, result_type, rank, at,
                                count_there, type_there, op, win, request);
  });
}

extern "C" int MPI_Rput(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                        int count_there, MPI_Datatype type_there, MPI_Win win,
                        MPI_Request* request) {
  return start_access(win, rank, "rput", Gives::nothing, request, [&] {
    return PMPI_Rput(origin, count, type, rank, at, count_there, type_there, win, request);
  });
}

// --- synchronization
// ----------------------------------------------------------------------------------

extern "C" int MPI_Win_complete(MPI_Win win) {
  return leave_to_mpi(
      win, "win_complete", [&] { return PMPI_Win_complete(win); },
      [&](FencedWindow& fenced) { fenced.end_start(); });
}

extern "C" int MPI_Win_fence(int assertion, MPI_Win win) {
  FencedWindow* fenced = fenced_window(win);
  if (World::current() != nullptr) count_call(*World::current(), "win_fence");
  if (fenced == nullptr)
    return leave_to_mpi(win, "win_fence", [&] { return PMPI_Win_fence(assertion, win); });
  return told_of_fence(win, *fenced, fenced->fence(assertion));
}

extern "C" int MPI_Win_flush(int rank, MPI_Win win) {
  return leave_to_mpi(win, "win_flush", [&] { return PMPI_Win_flush(rank, win); });
}

extern "C" int MPI_Win_flush_all(MPI_Win win) {
  return leave_to_mpi(win, "win_flush_all", [&] { return PMPI_Win_flush_all(win); });
}

extern "C" int MPI_Win_flush_local(int rank, MPI_Win win) {
  return leave_to_mpi(win, "win_flush_local", [&] { return PMPI_Win_flush_local(rank, win); });
}

extern "C" int MPI_Win_flush_local_all(MPI_Win win) {
  return leave_to_mpi(win, "win_flush_local_all", [&] { return PMPI_Win_flush_local_all(win); });
}

extern "C" int MPI_Win_lock(int kind, int rank, int assertion, MPI_Win win) {
  return leave_lock_to_mpi(
      win, "win_lock", 1, [&] { return PMPI_Win_lock(kind, rank, assertion, win); },
      [&](FencedWindow& fenced) { fenced.begin_locks(rank); });
}

extern "C" int MPI_Win_lock_all(int assertion, MPI_Win win) {
  return leave_lock_to_mpi(
      win, "win_lock_all", 1, [&] { return PMPI_Win_lock_all(assertion, win); },
      [&](FencedWindow& fenced) { fenced.begin_locks(MPI_ANY_SOURCE); });
}

extern "C" int MPI_Win_post(MPI_Group group, int assertion, MPI_Win win) {
  return leave_to_mpi(win, "win_post", [&] { return PMPI_Win_post(group, assertion, win); });
}

extern "C" int MPI_Win_start(MPI_Group group, int assertion, MPI_Win win) {
  return leave_to_mpi(
      win, "win_start", [&] { return PMPI_Win_start(group, assertion, win); },
      [&](FencedWindow& fenced) { fenced.begin_start(); });
}

// A program may ask it again and again until another one has written what it waits for.
extern "C" int MPI_Win_sync(MPI_Win win) {
  const LoneCall alone(win, "win_sync");
  alone.end_if_lost();
  return PMPI_Win_sync(win);
}

// Asked again and again, too.
extern "C" int MPI_Win_test(MPI_Win win, int* flag) {
  const LoneCall alone(win, "win_test");
  alone.end_if_lost();
  const int code = PMPI_Win_test(win, flag);
  // MPICH looks for messages after it has answered, and our barriers do not drive it.
  return code == MPI_SUCCESS && *flag == 0 ? PMPI_Win_test(win, flag) : code;
}

extern "C" int MPI_Win_unlock(int rank, MPI_Win win) {
  return leave_lock_to_mpi(
      win, "win_unlock", -1, [&] { return PMPI_Win_unlock(rank, win); },
      [&](FencedWindow& fenced) { fenced.end_locks(rank); });
}

extern "C" int MPI_Win_unlock_all(MPI_Win win) {
  return leave_lock_to_mpi(
      win, "win_unlock_all", -1, [&] { return PMPI_Win_unlock_all(win); },
      [&](FencedWindow& fenced) { fenced.end_locks(MPI_ANY_SOURCE); });
}

extern "C" int MPI_Win_wait(MPI_Win win) {
  return leave_to_mpi(win, "win_wait", [&] { return PMPI_Win_wait(win); });
}

extern "C" int MPI_Win_free(MPI_Win* win) {
  if (World::current() != nullptr) count_call(*World::current(), "win_free");
  const MPI_Win window = win == nullptr ? MPI_WIN_NULL : *win;
  FencedWindow* fenced = fenced_window(window);
  if (fenced != nullptr && !fenced->close()) {
    forget_window(window);
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
  }
  const LoneCall alone(fenced != nullptr ? MPI_WIN_NULL : window, "win_free");
  return PMPI_Win_free(win);
}

// The MPI library knows of one that was made after a loss what is of this process.
extern "C" int MPI_Win_get_group(MPI_Win win, MPI_Group* group) {
  const FencedWindow* fenced = fenced_window(win);
  return fenced != nullptr && fenced->is_apart() ? MPI_Comm_group(fenced->comm(), group)
                                                 : PMPI_Win_get_group(win, group);
}

// On one host the library has been asked for memory that is shared (new_windows.cpp).
extern "C" int MPI_Win_get_attr(MPI_Win win, int key, void* value, int* is_found) {
  static int allocated = MPI_WIN_FLAVOR_ALLOCATE;
  const int code = PMPI_Win_get_attr(win, key, value, is_found);
  const FencedWindow* fenced = key == MPI_WIN_CREATE_FLAVOR ? fenced_window(win) : nullptr;
  if (code == MPI_SUCCESS && fenced != nullptr && fenced->is_allocated())
    *static_cast<int**>(value) = &allocated;
  return code;
}

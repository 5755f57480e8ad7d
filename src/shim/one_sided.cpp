// One-sided communication is the MPI library's own. It may wait for a lost target for ever; where
// siblings stand in, whoever waits then ends (lone_calls.hpp).
#include "shim/replication/lone_calls.hpp"
#include "shim/windows.hpp"

using namespace resprout::shim;

// --- access
// ----------------------------------------------------------------------------------

extern "C" int MPI_Accumulate(const void* origin, int count, MPI_Datatype type, int rank,
                              MPI_Aint at, int count_there, MPI_Datatype type_there, MPI_Op op,
                              MPI_Win win) {
  const LoneCall alone(win, "accumulate");
  return PMPI_Accumulate(origin, count, type, rank, at, count_there, type_there, op, win);
}

extern "C" int MPI_Compare_and_swap(const void* origin, const void* expected, void* result,
                                    MPI_Datatype type, int rank, MPI_Aint at, MPI_Win win) {
  const LoneCall alone(win, "compare_and_swap");
  return PMPI_Compare_and_swap(origin, expected, result, type, rank, at, win);
}

extern "C" int MPI_Fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                                MPI_Aint at, MPI_Op op, MPI_Win win) {
  const LoneCall alone(win, "fetch_and_op");
  return PMPI_Fetch_and_op(origin, result, type, rank, at, op, win);
}

extern "C" int MPI_Get(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                       int count_there, MPI_Datatype type_there, MPI_Win win) {
  const LoneCall alone(win, "get");
  return PMPI_Get(origin, count, type, rank, at, count_there, type_there, win);
}

extern "C" int MPI_Get_accumulate(const void* origin, int count, MPI_Datatype type, void* result,
                                  int result_count, MPI_Datatype result_type, int rank, MPI_Aint at,
                                  int count_there, MPI_Datatype type_there, MPI_Op op,
                                  MPI_Win win) {
  const LoneCall alone(win, "get_accumulate");
  return PMPI_Get_accumulate(origin, count, type, result, result_count, result_type, rank, at,
                             count_there, type_there, op, win);
}

extern "C" int MPI_Put(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                       int count_there, MPI_Datatype type_there, MPI_Win win) {
  const LoneCall alone(win, "put");
  return PMPI_Put(origin, count, type, rank, at, count_there, type_there, win);
}

// --- access by requests
// ----------------------------------------------------------------------------------

extern "C" int MPI_Raccumulate(const void* origin, int count, MPI_Datatype type, int rank,
                               MPI_Aint at, int count_there, MPI_Datatype type_there, MPI_Op op,
                               MPI_Win win, MPI_Request* request) {
  LoneStart alone(win, "raccumulate");
  const int code =
      PMPI_Raccumulate(origin, count, type, rank, at, count_there, type_there, op, win, request);
  return alone.go_on_as(code, request);
}

extern "C" int MPI_Rget(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                        int count_there, MPI_Datatype type_there, MPI_Win win,
                        MPI_Request* request) {
  LoneStart alone(win, "rget");
  const int code = PMPI_Rget(origin, count, type, rank, at, count_there, type_there, win, request);
  return alone.go_on_as(code, request);
}

extern "C" int MPI_Rget_accumulate(const void* origin, int count, MPI_Datatype type, void* result,
                                   int result_count, MPI_Datatype result_type, int rank,
                                   MPI_Aint at, int count_there, MPI_Datatype type_there, MPI_Op op,
                                   MPI_Win win, MPI_Request* request) {
  LoneStart alone(win, "rget_accumulate");
  const int code = PMPI_Rget_accumulate(origin, count, type, result, result_count, result_type,
                                        rank, at, count_there, type_there, op, win, request);
  return alone.go_on_as(code, request);
}

extern "C" int MPI_Rput(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                        int count_there, MPI_Datatype type_there, MPI_Win win,
                        MPI_Request* request) {
  LoneStart alone(win, "rput");
  const int code = PMPI_Rput(origin, count, type, rank, at, count_there, type_there, win, request);
  return alone.go_on_as(code, request);
}

// --- synchronization
// ----------------------------------------------------------------------------------

extern "C" int MPI_Win_complete(MPI_Win win) {
  const LoneCall alone(win, "win_complete");
  return PMPI_Win_complete(win);
}

extern "C" int MPI_Win_fence(int assertion, MPI_Win win) {
  const LoneCall alone(win, "win_fence");
  return PMPI_Win_fence(assertion, win);
}

extern "C" int MPI_Win_flush(int rank, MPI_Win win) {
  const LoneCall alone(win, "win_flush");
  return PMPI_Win_flush(rank, win);
}

extern "C" int MPI_Win_flush_all(MPI_Win win) {
  const LoneCall alone(win, "win_flush_all");
  return PMPI_Win_flush_all(win);
}

extern "C" int MPI_Win_flush_local(int rank, MPI_Win win) {
  const LoneCall alone(win, "win_flush_local");
  return PMPI_Win_flush_local(rank, win);
}

extern "C" int MPI_Win_flush_local_all(MPI_Win win) {
  const LoneCall alone(win, "win_flush_local_all");
  return PMPI_Win_flush_local_all(win);
}

extern "C" int MPI_Win_lock(int kind, int rank, int assertion, MPI_Win win) {
  const LoneCall alone(win, "win_lock");
  return PMPI_Win_lock(kind, rank, assertion, win);
}

extern "C" int MPI_Win_lock_all(int assertion, MPI_Win win) {
  const LoneCall alone(win, "win_lock_all");
  return PMPI_Win_lock_all(assertion, win);
}

extern "C" int MPI_Win_post(MPI_Group group, int assertion, MPI_Win win) {
  const LoneCall alone(win, "win_post");
  return PMPI_Win_post(group, assertion, win);
}

extern "C" int MPI_Win_start(MPI_Group group, int assertion, MPI_Win win) {
  const LoneCall alone(win, "win_start");
  return PMPI_Win_start(group, assertion, win);
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
  return PMPI_Win_test(win, flag);
}

extern "C" int MPI_Win_unlock(int rank, MPI_Win win) {
  const LoneCall alone(win, "win_unlock");
  return PMPI_Win_unlock(rank, win);
}

extern "C" int MPI_Win_unlock_all(MPI_Win win) {
  const LoneCall alone(win, "win_unlock_all");
  return PMPI_Win_unlock_all(win);
}

extern "C" int MPI_Win_wait(MPI_Win win) {
  const LoneCall alone(win, "win_wait");
  return PMPI_Win_wait(win);
}

extern "C" int MPI_Win_free(MPI_Win* win) {
  const LoneCall alone(win == nullptr ? MPI_WIN_NULL : *win, "win_free");
  return PMPI_Win_free(win);
}

// Completing requests where it may differ between replicas which ones are complete: it is decided
// by one of them (decided.hpp), and the others wait for the same. As the functions of
// mpi/operations/p2p/completion.hpp, and nothing else where nothing is decided.
//
// Thread rule: as decided.hpp.
#pragma once

#include <mpi.h>

#include "mpi/operations/guarded_call.hpp"
#include "mpi/operations/p2p/completion.hpp"

namespace resprout::shim {

int test_same(const GuardedCall& call, MPI_Request& request, int& flag, MPI_Status& status);
int test_same_all(const GuardedCall& call, Requests requests, int& flag, Statuses& statuses);
int test_same_any(const GuardedCall& call, Requests requests, int& index, int& flag,
                  MPI_Status& status);
int test_same_some(const GuardedCall& call, Requests requests, int& outcount, int* indices,
                   Statuses& statuses);
int wait_same_any(const GuardedCall& call, Requests requests, int& index, MPI_Status& status);
int wait_same_some(const GuardedCall& call, Requests requests, int& outcount, int* indices,
                   Statuses& statuses);

}  // namespace resprout::shim

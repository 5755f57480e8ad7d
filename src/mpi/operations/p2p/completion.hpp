// Completing requests, some of which may wait for the lost.
//
// In `continue` mode wildcard receives go on without the lost, and `wait_all` waits for all that
// can still complete before it tells of those that cannot: a program that expects no errors must
// find its messages. In `error` mode the program gets what ULFM gives: it may return early, with
// MPI_ERR_PENDING for the others, and with PROC_FAILED_PENDING for wildcards.
//
// Thread rule: from any thread; one request belongs to one thread at a time, as MPI demands.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "mpi/operations/guarded_call.hpp"

namespace resprout::shim {

// The requests of one call.
struct Requests {
  int count;
  MPI_Request* handles;

  MPI_Request& operator[](int i) const { return handles[i]; }
};

// The program's statuses, or some for those who want none.
class Statuses {
 public:
  Statuses(int count, MPI_Status* of_program);
  MPI_Status* data() { return data_; }
  MPI_Status& operator[](int i) { return data_[i]; }

 private:
  std::array<MPI_Status, 8> few_;
  std::vector<MPI_Status> many_;
  MPI_Status* data_;
};

// As MPI_Wait, MPI_Test and so on; nothing is passed to an error handler. `call` is the one that
// the program made.
int wait_one(const GuardedCall& call, MPI_Request& request, MPI_Status& status);
int test_one(const GuardedCall& call, MPI_Request& request, int& flag, MPI_Status& status);
int wait_all(const GuardedCall& call, Requests requests, Statuses& statuses);
int test_all(const GuardedCall& call, Requests requests, int& flag, Statuses& statuses);
int wait_any(const GuardedCall& call, Requests requests, int& index, MPI_Status& status);
int test_any(const GuardedCall& call, Requests requests, int& index, int& flag, MPI_Status& status);
int wait_some(const GuardedCall& call, Requests requests, int& outcount, int* indices,
              Statuses& statuses);
int test_some(const GuardedCall& call, Requests requests, int& outcount, int* indices,
              Statuses& statuses);

}  // namespace resprout::shim

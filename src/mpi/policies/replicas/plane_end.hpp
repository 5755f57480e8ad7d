// The notes that a plane leaves for the launcher while it waits in MPI_Finalize for the others:
// `arrived`, all its ranks are there; `agreed`, and all that they have received is what a replica
// in another plane has, too. Of three planes two that have arrived, one of which is agreed, are
// right; so the third may be ended (docs/how-to/stragglers.md).
//
// Thread rule: the thread that calls MPI_Finalize.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace resprout::shim {

class PlaneEnd {
 public:
  // Collective over MPI_COMM_WORLD, as all of them.
  // Empty `run_directory`: no notes.
  explicit PlaneEnd(std::string run_directory);
  ~PlaneEnd();
  PlaneEnd(const PlaneEnd&) = delete;
  PlaneEnd& operator=(const PlaneEnd&) = delete;

  // Whenever there is time. `is_agreed`: of this process; once true it stays.
  void advance(bool is_agreed);
  // All ranks of the plane have called it. `meanwhile` is done until then.
  void barrier(bool is_agreed, const std::function<void()>& meanwhile);

 private:
  void say_agreed(bool is_agreed);
  void leave_note(const char* name) const;

  const std::string run_directory_;
  MPI_Request arriving_ = MPI_REQUEST_NULL;
  int is_agreed_ = 0;
  int are_all_agreed_ = 0;
  bool has_said_agreed_ = false;
  MPI_Request agreeing_ = MPI_REQUEST_NULL;
};

}  // namespace resprout::shim

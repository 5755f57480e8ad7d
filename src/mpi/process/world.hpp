// This process between MPI_Init and MPI_Finalize: who it is, who is lost, what it was told to do.
//
// One object per process, because MPI is one per process. Safe to ask from any thread.
#pragma once

#include <mpi.h>

#include <string>

#include "mpi/process/options.hpp"

namespace resprout::runtime {
class Engine;
}

namespace resprout::shim {

class Report;

class World {
 public:
  // Null before MPI_Init has returned and after MPI_Finalize began to end the job.
  static World* current();

  virtual const Options& options() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual runtime::Engine& engine() = 0;
  virtual Report& report() = 0;

  // The process runs on the host of this one.
  virtual bool is_on_own_host(int world_rank) const = 0;
  // On some host of the job there are more ranks than cores. The same at all ranks.
  virtual bool is_oversubscribed() const = 0;

  // The lifeline has declared this world rank lost. Lock-free; once true, always true.
  virtual bool is_lost(int world_rank) const = 0;
  // How many world ranks are lost: a cheap way to see that nothing has happened.
  virtual int lost_count() const = 0;

  // The world rank of `rank` in `comm` (its remote group, if it is an inter-communicator); -1 for
  // MPI_ANY_SOURCE, MPI_PROC_NULL and what is not a rank.
  virtual int world_rank_of(MPI_Comm comm, int rank) = 0;

  // Ends all processes of the job, whose exit status is `status`; `line`: abort.hpp.
  [[noreturn]] virtual void end_job(int status, const std::string& line) = 0;

 protected:
  ~World() = default;
};

}  // namespace resprout::shim

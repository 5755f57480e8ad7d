// Checkpoints that outlive the process: in a job without replicas that is started again after a
// loss (--on-loss restart). The life that follows goes on from the newest one that is whole.
//
// Each rank keeps its part in the memory of its host; where there are several hosts its partner has
// a copy (partner_copies.hpp), or the ranks of a group have a code (code_parts.hpp); and every so
// many are written to files, if the user wants that.
//
// Invariants
//  1. There is always one whole checkpoint, once there was one: a rank writes over its part of the
//     one before the last, and over the copy of another's or its share of a code, only when all
//     ranks have the last, and all copies or shares of it.
//  2. All ranks go back to the same one, or begin anew, or the job ends.
//  3. Generations are numbered through all lives: no number is given twice.
//
// Thread rule: the thread that calls MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpi/policies/checkpoints/checkpoint_files.hpp"
#include "mpi/policies/checkpoints/code_parts.hpp"
#include "mpi/policies/checkpoints/partner_copies.hpp"
#include "mpi/policies/regions.hpp"
#include "runtime/checkpoints/memory_store.hpp"
#include "runtime/checkpoints/recovery.hpp"

namespace resprout::shim {

class LastingCheckpoints {
 public:
  // Of this process; null: it keeps none. Collective, for the first time. REQUIRES: between
  // MPI_Init and MPI_Finalize.
  static LastingCheckpoints* of_process();
  // Does in MPI_Init what of_process() would do, so that it takes less time. Collective. REQUIRES:
  // of_process() was not called.
  static void meet();
  // If it was asked for before.
  static LastingCheckpoints* if_any();

  struct Setup {
    std::string folder;         // in memory, of this host
    std::string run_directory;  // of this life
    std::string files;          // a folder; empty: there are none
    int files_every = 1;
    int code_size = 0;  // ranks of a group of the code; 0: partners have copies
    int rank = 0;
    std::vector<int> hosts;  // of each rank
    bool is_later_life = false;
    bool resumes = false;
    MPI_Comm comm = MPI_COMM_NULL;  // of all ranks
  };
  explicit LastingCheckpoints(Setup setup);

  // Keeps what is protected; in a later life, for the first time, puts back what is kept instead.
  // MPI_SUCCESS; MPI_ERR_NO_MEM: a line has said that there is no room. The job ends if there was
  // a checkpoint that cannot be put back. Collective over MPI_COMM_WORLD.
  int take(const Regions& regions);
  // For MPI_Finalize, in all ranks: what was begun comes to its end.
  void finish();

 private:
  // What this process can read.
  struct Found {
    runtime::Holding holding;
    runtime::Image image;
  };

  int ranks() const { return static_cast<int>(setup_.hosts.size()); }
  void settle();
  int keep(const Regions& regions);
  // Whether there was something to go back to.
  bool go_back(const Regions& regions);
  bool begins_anew(const runtime::Recovery& recovery);
  void add(const runtime::Image& image, runtime::Held place);
  // For what other ranks may need, after a checkpoint was kept or put back. 0 or errno.
  int protect_part(const runtime::Image* image, std::uint64_t generation);
  void look_into_memory();
  void look_into_files();
  runtime::Recovery find_common() const;
  // As find_common(), and nobody's part is damaged: only those that are put back are read for that.
  runtime::Recovery find_whole();
  bool is_damaged(const Found& found);
  void pass_on(const runtime::Recovery& recovery);
  void rebuild(const runtime::Recovery& recovery);
  const runtime::Image* find(int owner, std::uint64_t generation) const;
  const FoundShare* find_share(int keeper, std::uint64_t generation,
                               const runtime::CodeGroup& group) const;
  // By the lowest rank that says why not.
  void end_job_unless(bool may_go_on, const std::string& why);
  void say_no_room(int error, std::size_t bytes, int of) const;
  void say_that_it_counts();

  const Setup setup_;
  runtime::MemoryStore store_;
  std::optional<PartnerCopies> copies_;
  std::optional<CodeParts> code_;
  std::optional<CheckpointFiles> files_;
  bool has_begun_ = false;
  bool has_said_ = false;
  std::uint64_t newest_ = 0;  // was tried
  std::uint64_t whole_ = 0;   // is known to be
  std::uint64_t own_ = 0;     // this rank has done its share in it
  // While it goes back.
  std::vector<Found> found_;
  std::vector<FoundShare> shares_;
  std::vector<std::unique_ptr<runtime::MappedFile>> read_;
};

}  // namespace resprout::shim

// Copies of checkpoints on other hosts. Each rank sends what has changed since the last one to its
// partner (runtime/checkpoints/partners.hpp), which lays it beside the copy before. It goes over
// the MPI library, on a communicator of its own, while the program computes: from one checkpoint to
// the next, out of the memory that keeps it and into that which keeps the copy.
//
// Invariants
//  1. A copy is an image when all of it has come, and not before.
//  2. While it comes the copy of the checkpoint that is needed stays whole.
//
// Thread rule: the thread that calls MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/checkpoints/changed_blocks.hpp"
#include "runtime/checkpoints/memory_store.hpp"

namespace resprout::shim {

class PartnerCopies {
 public:
  // `hosts`: of each rank. `comm`: of all ranks; nobody else uses it.
  PartnerCopies(const std::string& folder, std::span<const int> hosts, int rank, MPI_Comm comm,
                runtime::BlockDigest digest);

  // Of one host there is nothing to do.
  bool is_idle() const { return partner_ < 0; }

  // Begins to send this image, which stays as it is until finish(); null: nothing is sent. Of
  // `needed`, a generation, no copy is touched. `base`: the partner may have that generation, and
  // these were its digests. 0, or errno: there is no room for the copy of another one. Collective.
  int start(const runtime::Image* image, std::uint64_t needed);
  // The partner may have a copy of this one.
  void set_base(const runtime::Image& image);
  // All that was begun has come, everywhere in the end.
  void finish();

  struct Figures {
    std::uint64_t sent_bytes = 0;
    std::uint64_t whole_bytes = 0;  // of the images that these were of
  };
  const Figures& figures() const { return figures_; }

 private:
  struct Offer {
    std::uint64_t generation = 0;  // 0: nothing is sent
    std::uint64_t bytes = 0;       // of the image
    std::uint64_t head_bytes = 0;
    std::uint64_t base = 0;
  };
  struct Answer {
    std::int32_t error = 0;
    std::int32_t has_base = 0;
  };
  // Of a rank whose copies are here.
  struct Source {
    int rank = 0;
    std::unique_ptr<runtime::MemoryStore> store;
    Offer offer;
    Answer answer;
    std::span<std::byte> into;
    std::vector<std::byte> head;
    std::uint64_t runs_count = 0;
    std::vector<runtime::BlockRun> runs;
  };

  void exchange_offers(const runtime::Image* image, std::uint64_t needed);
  void exchange_runs(const runtime::Image* image);
  void copy_unchanged(Source& source);
  void begin_to_send(const runtime::Image& image);
  void begin_to_receive(Source& source);
  void wait();

  const MPI_Comm comm_;
  int partner_ = -1;
  std::vector<Source> sources_;
  std::vector<MPI_Request> requests_;
  Offer offer_;
  Answer answer_;
  std::uint64_t base_ = 0;
  std::vector<std::uint64_t> base_digests_;
  std::vector<runtime::BlockRun> runs_;
  Figures figures_;
};

}  // namespace resprout::shim

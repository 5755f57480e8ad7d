// A share of an XOR code instead of a copy on another host (runtime/checkpoints/xor_code.hpp). The
// members of a group make it of their images when they have written them, within the call that
// takes the checkpoint. After a loss the others of the group make what was lost again.
//
// What a member keeps lies in files parity-RANK-a and -b, each an image of two regions: the group
// as it was, and the XOR.
//
// Invariants
//  1. A share is an image when all of it is there, and not before.
//  2. While one is made that of the checkpoint that is needed stays whole.
//
// Thread rule: the thread that calls MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/checkpoints/memory_store.hpp"
#include "runtime/checkpoints/recovery.hpp"

namespace resprout::shim {

// A share that was found, and its bytes, which are there as long as the memory that it was read
// from.
struct FoundShare {
  runtime::CodeHolding holding;
  std::span<const std::byte> parity;
};

class CodeParts {
 public:
  // `hosts`: of each rank. `comm`: of all ranks. Collective over it.
  CodeParts(const std::string& folder, std::span<const int> hosts, int size, int rank,
            MPI_Comm comm, runtime::BlockDigest digest);

  // Makes this rank's share of the code of this generation, and keeps that of `needed`. `image`:
  // null, this rank has none; then nobody of the group has a share. 0, or errno: there is no room.
  // Collective over the group.
  int keep(const runtime::Image* image, std::uint64_t generation, std::uint64_t needed);

  // Is it one, of this job: what it says, and where.
  static std::optional<FoundShare> read(const runtime::Image& image, int holder, int ranks);

  // Makes the part of the owner again, at the owner, `into` of its length. `own`: this rank's image
  // of that generation; `share`: of what the member keeps that has its share here, or null. All of
  // the ranks of `comm` call it alike.
  static void rebuild(const runtime::Rebuilt& it, int rank, MPI_Comm comm,
                      const runtime::Image* own,
                      const std::function<const FoundShare*(int keeper)>& share,
                      std::span<std::byte> into);

 private:
  const int rank_;
  const int ranks_;
  MPI_Comm comm_ = MPI_COMM_NULL;  // of the group; null: this rank is in none
  std::vector<int> members_;
  runtime::MemoryStore store_;
};

}  // namespace resprout::shim

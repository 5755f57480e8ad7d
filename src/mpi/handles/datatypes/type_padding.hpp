// Bytes of data that hold nothing, and that nobody writes: an x87 long double has 10 bytes that
// mean something and 6 that do not. Thread rule: `of` from any thread from which MPI may be called;
// else pure.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace resprout::shim {

class TypeRecipe;

class Padding {
 public:
  struct Run {
    std::size_t bytes;
    bool counts;  // they mean something
  };

  // All counts.
  Padding() = default;
  // In packed elements of this datatype. REQUIRES: it is not freed yet.
  static Padding of(MPI_Datatype datatype);

  // False: all counts.
  bool has_any() const { return !runs_.empty(); }
  // From the first byte on, again and again.
  const std::vector<Run>& runs() const { return runs_; }

 private:
  explicit Padding(std::vector<Run> runs) : runs_(std::move(runs)) {}
  static Padding of_struct(const TypeRecipe& made);

  std::vector<Run> runs_;
};

}  // namespace resprout::shim

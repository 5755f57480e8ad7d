// Datatypes of datatypes at random.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/random.hpp"
#include "mpi/testing/types.hpp"

namespace resprout::shim {

// Small enough to be looked at byte by byte.
class RandomType {
 public:
  explicit RandomType(std::uint64_t seed) : random_(seed) {}

  static constexpr MPI_Aint reach = 2000;  // bytes, in either direction

  OwnType next() { return derived(random_.below(4)); }

 private:
  int number(int least, int most) {
    return least + static_cast<int>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  Integers numbers(std::size_t count, int least, int most) {
    Integers all(count);
    for (int& one : all) one = number(least, most);
    return all;
  }
  Addresses places(std::size_t count) {
    const Integers all = numbers(count, -60, 60);
    return {all.begin(), all.end()};
  }
  std::size_t few() { return random_.below(4); }

  OwnType part(std::uint64_t depth) {
    // Of a long double Open MPI need not pack what is padding.
    const std::array predefined{MPI_CHAR,      MPI_SHORT,      MPI_INT,  MPI_DOUBLE,
                                MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_2INT, MPI_FLOAT_INT};
    if (depth == 0) return copy_type(predefined[random_.below(predefined.size())]);
    return derived(depth - 1);
  }
  OwnType derived(std::uint64_t depth) {
    for (;;) {
      OwnType made = of(part(depth), depth);
      if (is_small(made) && (size_of(made) > 0 || random_.chance(1, 8))) return made;
    }
  }
  static int size_of(MPI_Datatype datatype) {
    int size = 0;
    PMPI_Type_size(datatype, &size);
    return size;
  }
  static bool is_small(MPI_Datatype datatype) {
    const int size = size_of(datatype);
    MPI_Aint lb = 0;
    MPI_Aint extent = 0;
    MPI_Aint first = 0;
    MPI_Aint bytes = 0;
    PMPI_Type_get_extent(datatype, &lb, &extent);
    PMPI_Type_get_true_extent(datatype, &first, &bytes);
    return size <= reach && std::abs(lb) <= reach && std::abs(lb + extent) <= reach &&
           (size == 0 || (std::abs(first) <= reach && std::abs(first + bytes) <= reach));
  }
  // What is drawn in braces is drawn from left to right by every compiler.
  OwnType of(const OwnType& one, std::uint64_t depth) {
    const Integers some{number(0, 4), number(0, 3), number(-5, 5)};
    const Addresses far{number(-20, 20), number(-10, 60), number(-50, 50)};
    switch (random_.below(13)) {
      case 0:
        return copy_type(one);
      case 1:
        return resized_type(far[0], far[1], one);
      case 2:
        return row_of(some[0], one);
      case 3:
        if (is_misread(some[2] * extent_of(one))) return copy_type(one);
        return vector_type(some[0], some[1], some[2], one);
      case 4:
        if (is_misread(far[2])) return copy_type(one);
        return hvector_type(some[0], some[1], far[2], one);
      case 5:
        return indexed(one);
      case 6:
        return hindexed(one);
      case 7:
        return indexed_block_type(some[1], numbers(few(), -5, 5), one);
      case 8:
        return hindexed_block_type(some[1], places(few()), one);
      case 9:
        return record(one, depth);
      case 10:
        return subarray(one);
      default:
        return darray(one);
    }
  }
  static MPI_Aint extent_of(MPI_Datatype one) {
    MPI_Aint lb = 0;
    MPI_Aint extent = 0;
    PMPI_Type_get_extent(one, &lb, &extent);
    return extent;
  }
  // A step of -1 byte from block to block is one of their length to Open MPI 5.
  static bool is_misread(MPI_Aint stride_bytes) { return stride_bytes == -1; }
  OwnType indexed(MPI_Datatype one) {
    const std::size_t count = few();
    const Integers lengths = numbers(count, 0, 3);
    return indexed_type(lengths, numbers(count, -5, 5), one);
  }
  OwnType hindexed(MPI_Datatype one) {
    const std::size_t count = few();
    const Integers lengths = numbers(count, 0, 3);
    return hindexed_type(lengths, places(count), one);
  }
  OwnType record(MPI_Datatype one, std::uint64_t depth) {
    const OwnType other = part(depth);
    const Integers lengths = numbers(3, 0, 2);
    return struct_type(lengths, places(3), {one, other, one});
  }
  int order() { return random_.chance(1, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

  OwnType subarray(MPI_Datatype one) {
    ArrayPart array;
    for (std::size_t left = 1 + random_.below(3); left > 0; --left) {
      array.sizes.push_back(number(1, 5));
      array.taken.push_back(number(1, array.sizes.back()));
      array.starts.push_back(number(0, array.sizes.back() - array.taken.back()));
    }
    return subarray_type(array, order(), one);
  }
  // Open MPI 5 makes none of what has no bytes.
  OwnType darray(MPI_Datatype one) {
    if (size_of(one) == 0) return copy_type(one);
    Dealt array;
    for (std::size_t left = 1 + random_.below(3); left > 0; --left) {
      const int size = number(1, 7);
      const int distribution = std::array{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                          MPI_DISTRIBUTE_NONE}[random_.below(3)];
      const int processes = distribution == MPI_DISTRIBUTE_NONE ? 1 : number(1, 3);
      const int least =
          distribution == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
      const bool is_default = distribution == MPI_DISTRIBUTE_NONE || random_.chance(1, 2);
      array.sizes.push_back(size);
      array.distributions.push_back(distribution);
      array.arguments.push_back(is_default ? MPI_DISTRIBUTE_DFLT_DARG : number(least, least + 3));
      array.processes.push_back(processes);
    }
    const int rank = number(0, array.all_processes() - 1);
    return darray_type(array, rank, order(), one);
  }

  Random random_;
};

}  // namespace resprout::shim

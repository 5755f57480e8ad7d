// Datatypes for unit tests.
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "mpi/testing/mpi_of_one.hpp"

namespace resprout::shim {

// Freed when it is not needed any more.
class OwnType {
 public:
  template <typename Make>
  explicit OwnType(Make make) {
    need_mpi();
    make(&datatype_);
  }
  OwnType(OwnType&& other) noexcept
      : datatype_(std::exchange(other.datatype_, MPI_DATATYPE_NULL)) {}
  ~OwnType() {
    if (datatype_ != MPI_DATATYPE_NULL) PMPI_Type_free(&datatype_);
  }
  OwnType(const OwnType&) = delete;
  OwnType& operator=(const OwnType&) = delete;
  OwnType& operator=(OwnType&&) = delete;
  operator MPI_Datatype() const { return datatype_; }

 private:
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
};

using Integers = std::vector<int>;
using Addresses = std::vector<MPI_Aint>;

inline OwnType row_of(int count, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) { PMPI_Type_contiguous(count, part, made); });
}

inline OwnType vector_type(int count, int length, int stride, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) { PMPI_Type_vector(count, length, stride, part, made); });
}

inline OwnType hvector_type(int count, int length, MPI_Aint stride_bytes, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_hvector(count, length, stride_bytes, part, made);
  });
}

inline OwnType indexed_type(const Integers& lengths, const Integers& places, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), part, made);
  });
}

inline OwnType hindexed_type(const Integers& lengths, const Addresses& places, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), part,
                              made);
  });
}

inline OwnType indexed_block_type(int length, const Integers& places, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_indexed_block(static_cast<int>(places.size()), length, places.data(), part,
                                   made);
  });
}

inline OwnType hindexed_block_type(int length, const Addresses& places, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_hindexed_block(static_cast<int>(places.size()), length, places.data(), part,
                                    made);
  });
}

inline OwnType struct_type(const Integers& lengths, const Addresses& places,
                           const std::vector<MPI_Datatype>& parts) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_struct(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                            parts.data(), made);
  });
}

inline OwnType resized_type(MPI_Aint lb, MPI_Aint extent, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) { PMPI_Type_create_resized(part, lb, extent, made); });
}

inline OwnType copy_type(MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) { PMPI_Type_dup(part, made); });
}

struct ArrayPart {
  Integers sizes;
  Integers taken;
  Integers starts;
};

inline OwnType subarray_type(const ArrayPart& array, int order, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_subarray(static_cast<int>(array.sizes.size()), array.sizes.data(),
                              array.taken.data(), array.starts.data(), order, part, made);
  });
}

struct Dealt {
  Integers sizes;
  Integers distributions;
  Integers arguments;
  Integers processes;

  int all_processes() const {
    int all = 1;
    for (const int some : processes) all *= some;
    return all;
  }
};

inline OwnType darray_type(const Dealt& array, int rank, int order, MPI_Datatype part) {
  return OwnType([&](MPI_Datatype* made) {
    PMPI_Type_create_darray(array.all_processes(), rank, static_cast<int>(array.sizes.size()),
                            array.sizes.data(), array.distributions.data(), array.arguments.data(),
                            array.processes.data(), order, part, made);
  });
}

}  // namespace resprout::shim

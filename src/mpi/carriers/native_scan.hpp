// A scan that goes along the chain of ranks until a loss: each waits for the sum of the one below,
// adds what it gives, and passes its own sum on. The messages are the MPI library's.
//
// It is the library's own way for scans. Here a rank has its sum before anybody above has anything
// made of it: so what a dead rank has given counts for all who live above it, or for none of them
// (docs/explanation/protocols/native.md).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "mpi/handles/operators/reduction.hpp"
#include "runtime/buffer.hpp"
#include "runtime/native_call.hpp"

namespace resprout::shim {

struct ScanCall {
  MPI_Comm native = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  void* recvbuf = nullptr;
  bool is_inclusive = true;
};

class NativeScan final : public runtime::NativeCall {
 public:
  // `given`: what goes into the reduction. REQUIRES: it stays as it is until this is over.
  NativeScan(const ScanCall& call, Reduction& reduction, std::span<const std::byte> given);

  bool run() override;
  void interrupt() override;
  std::span<const std::byte> payload() override { return row_.view(); }
  void take(std::span<const std::byte> rows) override;
  bool synchronizes() const override { return false; }
  Form form() const override { return Form::scan; }

  // The call returns this.
  int end();

 private:
  bool receive();
  bool pass_on();

  const ScanCall call_;
  Reduction& reduction_;
  runtime::Buffer row_;       // with what this rank gives, then with its sum
  std::span<std::byte> sum_;  // in the row
  runtime::Buffer below_;     // the sum of the rank below
  bool has_sum_ = false;
  bool was_cut_short_ = false;  // the library may still read the sum
  int code_ = MPI_SUCCESS;
};

}  // namespace resprout::shim

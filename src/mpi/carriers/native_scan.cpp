#include "mpi/carriers/native_scan.hpp"

#include <utility>

#include "mpi/carriers/fold_row.hpp"
#include "mpi/carriers/landing.hpp"
#include "mpi/carriers/native.hpp"
#include "runtime/blocks.hpp"

namespace resprout::shim {
namespace {

// Nothing else is said from one rank to another on these communicators.
constexpr int scan_tag = 1;

}  // namespace

NativeScan::NativeScan(const ScanCall& call, Reduction& reduction, std::span<const std::byte> given)
    : call_(call), reduction_(reduction), row_(runtime::block_bytes(given.size())) {
  runtime::BlockWriter writer({row_.data(), row_.size()});
  sum_ = writer.begin(call.rank, given.size());
  runtime::copy_bytes(sum_.data(), given.data(), given.size());
}

// With its sum a rank has ended well. If a rank above does not get its own, it can be told again.
bool NativeScan::run() {
  pass_on_revocations();
  const InsideMpi inside;
  if (call_.rank > 0 && !receive()) return false;
  has_sum_ = true;
  was_cut_short_ = call_.rank + 1 < call_.size && !pass_on();
  if (was_cut_short_) revoke_native(call_.native);
  return true;
}

bool NativeScan::receive() {
  below_ = runtime::Buffer(sum_.size());
  const int bytes = static_cast<int>(sum_.size());
  MPI_Status status;
  code_ =
      PMPI_Recv(below_.data(), bytes, MPI_BYTE, call_.rank - 1, scan_tag, call_.native, &status);
  if (is_interruption(code_)) return false;
  int received = 0;
  if (code_ == MPI_SUCCESS) PMPI_Get_count(&status, MPI_BYTE, &received);
  if (received != bytes) code_ = MPI_ERR_TRUNCATE;
  if (code_ != MPI_SUCCESS) return true;
  reduction_.combiner().combine(below_.view(), sum_);
  code_ = reduction_.code();
  return true;
}

// A mistake of the program is everybody's above it, too: they get less than they expect.
bool NativeScan::pass_on() {
  const int bytes = code_ == MPI_SUCCESS ? static_cast<int>(sum_.size()) : 0;
  return PMPI_Send(sum_.data(), bytes, MPI_BYTE, call_.rank + 1, scan_tag, call_.native) ==
         MPI_SUCCESS;
}

void NativeScan::interrupt() {
  if (below_.data() != nullptr) abandon(std::move(below_));
  code_ = MPI_SUCCESS;
  revoke_native(call_.native);
}

void NativeScan::take(std::span<const std::byte> rows) {
  code_ = fold_row(rows, call_.rank + (call_.is_inclusive ? 1 : 0), reduction_, call_.recvbuf);
}

int NativeScan::end() {
  if (has_sum_ && code_ == MPI_SUCCESS) {
    if (call_.is_inclusive)
      reduction_.write(sum_, call_.recvbuf);
    else if (call_.rank > 0)
      reduction_.write(below_.view(), call_.recvbuf);
  }
  if (was_cut_short_) abandon(std::move(row_));
  return code_;
}

}  // namespace resprout::shim

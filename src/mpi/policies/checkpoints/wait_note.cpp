#include "mpi/policies/checkpoints/wait_note.hpp"

#include <unistd.h>

#include "mpi/process/report/report.hpp"
#include "runtime/net/clock.hpp"

namespace resprout::shim {
namespace {

constexpr std::int64_t long_ns = 100'000'000;

}  // namespace

WaitNote::WaitNote(const std::string& run_directory, int rank)
    : file_(run_directory.empty() ? "" : run_directory + "/waits-" + std::to_string(rank)),
      began_(runtime::monotonic_ns()) {}

WaitNote::~WaitNote() {
  if (is_noted_) unlink(file_.c_str());
}

void WaitNote::look() {
  if (is_noted_ || file_.empty() || runtime::monotonic_ns() - began_ < long_ns) return;
  is_noted_ = write_whole_file(file_, "\n");
}

}  // namespace resprout::shim

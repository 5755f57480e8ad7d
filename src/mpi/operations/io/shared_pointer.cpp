#include "mpi/operations/io/shared_pointer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "mpi/policies/files/lock.hpp"
#include "runtime/net/fd.hpp"

namespace resprout::shim {
namespace {

// What is in the file.
struct PointerState {
  std::int64_t at = 0;
  std::uint64_t time = 0;   // the last one for which it was moved once
  std::int64_t before = 0;  // where it stood then
};

}  // namespace

int SharedPointer::move_once(std::uint64_t time, const To& to, std::int64_t* before) const {
  const runtime::Fd fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.is_open()) return errno;
  if (const int error = lock_whole(fd.get()); error != 0) return error;
  PointerState state;
  constexpr auto bytes = static_cast<ssize_t>(sizeof state);
  const ssize_t got = ::pread(fd.get(), &state, sizeof state, 0);
  if (got < 0) return errno;
  if (got < bytes) state = {.at = begin_};  // new, or who made it was lost
  if (time != 0 && state.time == time) {
    *before = state.before;
    return 0;
  }
  *before = state.at;
  if (time != 0) state = {.at = state.at, .time = time, .before = state.at};
  state.at = to(state.at);
  if (::pwrite(fd.get(), &state, sizeof state, 0) == bytes) return 0;
  return errno != 0 ? errno : ENOSPC;
}

bool SharedPointer::is_there() const { return ::access(path_.c_str(), F_OK) == 0; }

void SharedPointer::remove() const { ::unlink(path_.c_str()); }

}  // namespace resprout::shim

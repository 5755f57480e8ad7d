#include "shim/files/shared_pointer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/net/fd.hpp"
#include "shim/files/lock.hpp"

namespace resprout::shim {
int SharedPointer::move(const std::function<std::int64_t(std::int64_t)>& to,
                        std::int64_t* before) const {
  const runtime::Fd fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.is_open()) return errno;
  if (const int error = lock_whole(fd.get()); error != 0) return error;
  std::int64_t at = begin_;
  constexpr auto bytes = static_cast<ssize_t>(sizeof at);
  const ssize_t got = ::pread(fd.get(), &at, sizeof at, 0);
  if (got < 0) return errno;
  if (got < bytes) at = begin_;  // new, or who made it was lost
  *before = at;
  at = to(at);
  if (::pwrite(fd.get(), &at, sizeof at, 0) == bytes) return 0;
  return errno != 0 ? errno : ENOSPC;
}

bool SharedPointer::is_there() const { return ::access(path_.c_str(), F_OK) == 0; }

void SharedPointer::remove() const { ::unlink(path_.c_str()); }

}  // namespace resprout::shim

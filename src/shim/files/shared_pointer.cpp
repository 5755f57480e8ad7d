#include "shim/files/shared_pointer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/net/fd.hpp"

namespace resprout::shim {
namespace {

bool lock(int fd) {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  while (::fcntl(fd, F_OFD_SETLKW, &whole) != 0)
    if (errno != EINTR) return false;
  return true;
}

}  // namespace

int SharedPointer::move(const std::function<std::int64_t(std::int64_t)>& to,
                        std::int64_t* before) const {
  const runtime::Fd fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.is_open() || !lock(fd.get())) return errno;
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

// The lock that a process holds on a whole file: the kernel's, also between hosts that share its
// folder. It belongs to the open file, and ends with it, or with who has opened it.
#pragma once

#include <fcntl.h>

#include <cerrno>

namespace resprout::shim {

// Waits for it. 0, or errno.
inline int lock_whole(int fd) {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  while (::fcntl(fd, F_OFD_SETLKW, &whole) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace resprout::shim

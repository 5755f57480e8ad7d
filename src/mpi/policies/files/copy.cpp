#include "mpi/policies/files/copy.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace resprout::shim {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

// An open file, closed where this ends.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// From where both stand to the end. 0, or errno.
int copy_by_hand(int from, int to) {
  std::vector<char> chunk(chunk_bytes);
  for (;;) {
    const ssize_t got = ::read(from, chunk.data(), chunk.size());
    if (got == 0) return 0;
    if (got < 0 && errno != EINTR) return errno;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(to, chunk.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno != EINTR) return errno;
      if (put > 0) done += put;
    }
  }
}

int copy_contents(int from, int to) {
  if (::ioctl(to, FICLONE, from) == 0) return 0;
  for (;;) {
    const ssize_t done = ::copy_file_range(from, nullptr, to, nullptr, std::size_t{1} << 30, 0);
    if (done > 0 || (done < 0 && errno == EINTR)) continue;
    // It may also say that it is at the end where it cannot do it: of files in /proc, say.
    return copy_by_hand(from, to);
  }
}

}  // namespace

int copy_file(const std::string& from, const std::string& to) {
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (source.get() < 0) return errno;
  struct stat is{};
  if (::fstat(source.get(), &is) != 0) return errno;
  // Nobody else reads it before it has the right mode.
  const Descriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (target.get() < 0) return errno;
  if (const int error = copy_contents(source.get(), target.get()); error != 0) return error;
  return ::fchmod(target.get(), is.st_mode & 07777) == 0 ? 0 : errno;
}

}  // namespace resprout::shim

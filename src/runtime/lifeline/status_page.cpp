#include "runtime/lifeline/status_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace resprout::runtime {
namespace {

constexpr std::size_t page_bytes = 4096;

}  // namespace

StatusPage::StatusPage(StatusPage&& other) noexcept
    : status_(std::exchange(other.status_, nullptr)), fd_(std::move(other.fd_)) {}

StatusPage& StatusPage::operator=(StatusPage&& other) noexcept {
  std::swap(status_, other.status_);
  std::swap(fd_, other.fd_);
  return *this;
}

StatusPage::~StatusPage() {
  if (status_ != nullptr) munmap(status_, page_bytes);
}

bool StatusPage::map() {
  void* memory = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) return false;
  status_ = static_cast<Status*>(memory);  // a new file is all zero, and so is a new Status
  return true;
}

StatusPage StatusPage::create() {
  StatusPage page;
  page.fd_ = Fd(memfd_create("resprout-status", MFD_CLOEXEC));
  if (!page.fd_.is_open() || ftruncate(page.fd(), page_bytes) != 0 || !page.map())
    throw std::system_error(errno, std::generic_category(), "status page");
  return page;
}

StatusPage StatusPage::open(pid_t pid, int fd) {
  StatusPage page;
  const std::string name = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  page.fd_ = Fd(::open(name.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status;
  if (!page.fd_.is_open()) return StatusPage();
  // A pid may have a new owner, whose file this is then.
  if (fstat(page.fd(), &status) != 0 || status.st_size != page_bytes || !page.map()) {
    errno = ENOENT;
    return StatusPage();
  }
  page.fd_.reset();
  return page;
}

}  // namespace resprout::runtime

#include "mpi/process/report/notes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace resprout::shim {

Notes::Notes(const std::string& run_directory, int rank)
    : path_(run_directory.empty() ? "" : run_directory + "/notes-" + std::to_string(rank)) {}

Notes::~Notes() {
  if (fd_ >= 0) ::close(fd_);
}

void Notes::prepare() {
  if (path_.empty()) return;
  std::call_once(is_opened_, [this] {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  });
}

void Notes::add(std::string_view kind, const Json& value) {
  prepare();
  if (fd_ < 0) return;
  std::string line = "\n{\"";
  line.append(kind).append("\":").append(value.text()).append("}\n");
  while (::write(fd_, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

}  // namespace resprout::shim

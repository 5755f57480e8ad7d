#include "runtime/lifeline/peer_address.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "runtime/auth/sha256.hpp"

namespace resprout::runtime {
namespace {

std::string target_of(const char* link) {
  char text[256] = {};
  return readlink(link, text, sizeof text - 1) > 0 ? text : "";
}

}  // namespace

HostId current_host_id() {
  std::string text;
  std::ifstream boot_id("/proc/sys/kernel/random/boot_id");
  std::getline(boot_id, text);
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof name - 1);
  text = text + '\n' + name + '\n' + target_of("/proc/self/ns/net") + '\n' +
         target_of("/proc/self/ns/pid");
  const auth::Digest digest =
      auth::sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  HostId id;
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

}  // namespace resprout::runtime

#include "runtime/lifeline/peer_address.hpp"

#include <limits.h>
#include <sys/prctl.h>
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

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return text;
}

HostId id_of(const std::string& text) {
  const auth::Digest digest =
      auth::sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  HostId id;
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

}  // namespace

HostId current_network_id() { return id_of(boot_id() + '\n' + target_of("/proc/self/ns/net")); }

HostId current_machine_id() { return id_of(boot_id()); }

HostId current_host_id() {
  const HostId network = current_network_id();
  std::string text(network.begin(), network.end());
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof name - 1);
  text += name;
  for (const char* space : {"/proc/self/ns/pid", "/proc/self/ns/user"})
    text += '\n' + target_of(space);
  if (prctl(PR_GET_DUMPABLE) != 1) text += '\n' + std::to_string(getpid());
  return id_of(text);
}

}  // namespace resprout::runtime

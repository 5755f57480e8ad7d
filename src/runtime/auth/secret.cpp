#include "runtime/auth/secret.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace resprout::runtime::auth {

Secret new_secret() {
  Secret secret;
  // Up to 256 bytes come at once or not at all.
  while (getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
  return secret;
}

}  // namespace resprout::runtime::auth

#include "mpi/policies/digests/xxh3.hpp"

#include "mpi/policies/digests/xxh3_functions.hpp"

namespace resprout::shim {

const Xxh3 xxh3_plain = functions;

const Xxh3& xxh3() {
#if defined(__x86_64__) || defined(__i386__)
  static const bool has_avx2 = xxh3_avx2 != nullptr && __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return *xxh3_avx2;
#endif
  return xxh3_plain;
}

}  // namespace resprout::shim

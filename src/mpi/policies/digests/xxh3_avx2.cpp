// Built for processors that have AVX2 (cmake/layers.cmake), and called on no others. So it includes
// nothing of which the linker could take a copy from here for others.
#include "mpi/policies/digests/xxh3_kinds.hpp"

#ifdef __AVX2__
#  include "mpi/policies/digests/xxh3_functions.hpp"

const resprout::shim::Xxh3* const resprout::shim::xxh3_avx2 = &functions;
#else
const resprout::shim::Xxh3* const resprout::shim::xxh3_avx2 = nullptr;
#endif

// Built for processors that have AVX2 (cmake/layers.cmake), and called on no others. So it includes
// nothing of which the linker could take a copy from here for others.
#include "mpi/policies/replicas/xxh3.hpp"

#ifdef __AVX2__
#  include "mpi/policies/replicas/xxh3_functions.hpp"

const resprout::shim::Xxh3* const resprout::shim::xxh3_avx2 = &functions;
#else
const resprout::shim::Xxh3* const resprout::shim::xxh3_avx2 = nullptr;
#endif

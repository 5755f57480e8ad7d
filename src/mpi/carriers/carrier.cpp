#include "mpi/carriers/carrier.hpp"

namespace resprout::shim {

// Where ranks outnumber cores, a wait costs a switch of processes: trees of ours have fewer of
// them, and the library's reductions of much data move fewer bytes. Among few, broadcasts of ours
// in slices take twice as long as the library's where the cores share no cache; from 1 MiB on each
// process reads the payload out of the root's memory (slices.md). Of exchanges ours send everything
// to everybody, or to one receiver after the other.
bool is_native_faster_mostly(const Place& place, Kind kind, std::size_t bytes) {
  constexpr std::size_t kib = 1024;
  if (!is_calibrated(kind)) return true;
  if (!place.is_crowded) return kind != Kind::broadcast || bytes > 16 * kib;
  if (place.ranks > 4) return false;
  if (kind == Kind::broadcast) return bytes >= 64 * kib && bytes < 1024 * kib;
  return (kind == Kind::reduce || kind == Kind::allreduce) && bytes >= 512 * kib;
}

// Among more than two ranks, what the library carries from one rank ends with a barrier. Small ones
// of ours do without. Where hosts share cores, as containers of one machine do, a rank that waits
// inside of the library gives up the processor again and again. A rank that waits for a message of
// ours sleeps, and the message wakes it.
bool is_native_faster_between_hosts(const Place& place, Kind kind, std::size_t bytes) {
  constexpr std::size_t kib = 1024;
  if (place.ranks <= 2) return true;
  if (kind == Kind::scatter) return bytes > 4 * kib;
  const bool is_for_all =
      kind == Kind::barrier || kind == Kind::broadcast || kind == Kind::allreduce;
  return !place.is_crowded || !is_for_all || bytes >= 512 * kib;
}

}  // namespace resprout::shim

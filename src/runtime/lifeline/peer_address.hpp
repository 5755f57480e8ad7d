// Where a process of the job is to be found: what every process tells all others once, at the
// start, by whatever means the caller has.
//
// Plain bytes, so that the caller can exchange it as it stands. Thread rule: values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

namespace resprout::runtime {

// Equal on two processes iff they can look at each other, and share memory: they share a running
// kernel, a host name, a network, and the spaces of process numbers and of users. One whose
// memory nobody may read (its program's file cannot be read, or it asked for that) is alone.
using HostId = std::array<std::uint8_t, 16>;

struct PeerAddress {
  HostId host_id{};
  std::uint64_t start_time = 0;  // of the process, in clock ticks since boot (/proc/PID/stat)
  std::int32_t pid = 0;
  std::int32_t status_fd = -1;  // the memory file with its status page, open in that process
  std::uint16_t lifeline_port = 0;
  std::uint16_t data_port = 0;     // of its tcp transport; 0: it has none
  std::array<char, 48> address{};  // numeric IPv4 or IPv6, ends with a zero byte

  bool is_same_host(const PeerAddress& other) const { return host_id == other.host_id; }
};
static_assert(std::is_trivially_copyable_v<PeerAddress> && sizeof(PeerAddress) == 88);

// The host id of this process.
HostId current_host_id();

// Equal on two processes iff one reaches what the other offers on the loopback address.
HostId current_network_id();

// Equal on two processes iff they run on the same kernel, and so share its processors: those of
// several containers of one machine do, though they are on different hosts.
HostId current_machine_id();

}  // namespace resprout::runtime

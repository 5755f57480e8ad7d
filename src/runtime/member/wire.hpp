// What two processes of a membership say to each other over TCP, byte by byte.
//
// A frame is 4 bytes of length and that many bytes of body, whose first byte is its kind. Numbers
// are little-endian. What does not parse is no frame: the connection is dropped.
//
//   hello      8 incarnation of the sender, 8 of the receiver that it means (0: any), its address
//   heartbeat  nothing
//   join       4 identifier that it had or wants (-1: none), 8 incarnation, its address
//   redirect   an address: ask there
//   message    8 incarnation of the receiver, 2 radix of the group's tree, the machine's message
//              (net/membership_bytes.hpp), the addresses of those in it; the first on a connection:
//              of all whom the sender knows to be or have been members
//   said       8 incarnation of the receiver, 8 epoch of the sender's view, what its program says
//
//   tags       8 incarnation of a member, its address, 2 bytes of length, its tags (tags.hpp)
//   leave      nothing: the receiver shall be no member any more
//
// and where views are local
//
//   local hello    4 identifier of the sender, 8 its incarnation, 8 that of the receiver that it
//                  means (0: any)
//   local message  the machine's message
//
// An address is 1 byte of length, the numeric host, 2 port.
//
// Thread rule: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocols/local_membership/local_membership.hpp"
#include "protocols/membership/membership.hpp"

namespace resprout::runtime::member {

using Machine = protocols::LargeMembership;
using LocalMachine = protocols::LargeLocalMembership;
using Ids = Machine::Ids;
using Bytes = std::vector<std::uint8_t>;

inline constexpr std::size_t frame_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t said_bytes_max = 1'000'000;

struct Address {
  std::string host;  // numeric
  std::uint16_t port = 0;
  std::string text() const;  // "127.0.0.1:4000", "[::1]:4000"
  auto operator<=>(const Address&) const = default;
};

// Nothing if the text is no numeric host with a port.
std::optional<Address> parse_address(const std::string& text);

// Where a process is, and which of those that were there: one that is started again, or joins
// again, is another one.
struct Place {
  Address address;
  std::uint64_t incarnation = 0;
};
using Book = std::map<std::int32_t, Place>;  // by identifier

enum class FrameKind : std::uint8_t {
  hello = 1,
  heartbeat,
  join,
  redirect,
  message,
  local_hello,
  local_message,
  said,
  tags,
  leave
};

struct Frame {
  FrameKind kind = FrameKind::heartbeat;
  std::int32_t id = -1;
  std::uint64_t incarnation = 0;
  std::uint64_t meant = 0;
  std::int32_t radix = 2;  // of a message
  Address address;
  Machine::Message message;
  Book places;  // of a message
  LocalMachine::Message local;
  std::uint64_t epoch = 0;  // of what is said
  Bytes data;               // of what is said: at most said_bytes_max
  std::string tags;         // as text that parse_tags understands
};

Bytes encode(const Frame& frame);  // with its length
std::optional<Frame> decode(std::span<const std::uint8_t> body);

// Appends the frames that have come whole; how many bytes these are. Nothing: what follows the
// appended ones is no frame.
std::optional<std::size_t> decode_all(std::span<const std::uint8_t> bytes,
                                      std::vector<Frame>& frames);

}  // namespace resprout::runtime::member

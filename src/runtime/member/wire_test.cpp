// What is said arrives as it was, and what is no frame is refused.
#include "runtime/member/wire.hpp"

#include "core/random.hpp"
#include "doctest/doctest.h"

namespace resprout::runtime::member {
namespace {

Frame sample() {
  Frame frame;
  frame.kind = FrameKind::message;
  frame.meant = 0x0123456789abcdefu;
  frame.message.from = rank_at(7);
  frame.message.to = rank_at(4095);
  frame.message.kind = protocols::MembershipKind::propose;
  frame.message.ballot = {rank_at(7), 3};
  frame.message.view = {12, Ids::first(130)};
  frame.message.fenced = Ids::only(rank_at(64));
  frame.message.members = Ids::first(4096);
  frame.places[7] = {{"127.0.0.1", 4000}, 99};
  frame.places[4095] = {{"::1", 65535}, 1};
  return frame;
}

std::span<const std::uint8_t> body_of(const Bytes& bytes) { return std::span(bytes).subspan(4); }

TEST_CASE("a message arrives as it was sent, with the places of those in it") {
  const Bytes bytes = encode(sample());
  const auto read = decode(body_of(bytes));
  REQUIRE(read);
  CHECK(read->message == sample().message);
  CHECK(read->meant == sample().meant);
  REQUIRE(read->places.size() == 2);
  CHECK(read->places.at(4095).address == Address{"::1", 65535});
  CHECK(read->places.at(7).incarnation == 99);
}

TEST_CASE("a frame that is cut off, or goes on, is none") {
  const Bytes bytes = encode(sample());
  for (std::size_t length = 0; length + 4 < bytes.size(); ++length)
    CHECK_FALSE(decode(body_of(bytes).first(length)));
  Bytes longer = bytes;
  longer.push_back(0);
  CHECK_FALSE(decode(body_of(longer)));
}

TEST_CASE("random bytes, and frames with wrong bytes, are refused or read, and nothing else") {
  Random random(1);
  const Bytes good = encode(sample());
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes(random.below(80));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(i % 2 == 0 ? 256 : 6));
    decode(bytes);
    Bytes bent = good;
    bent[4 + random.below(bent.size() - 4)] = static_cast<std::uint8_t>(random.next());
    if (const auto read = decode(body_of(bent))) CHECK(Ids::is_id(read->message.from));
  }
}

TEST_CASE("an address is a numeric host and a port") {
  CHECK(parse_address("127.0.0.1:80") == Address{"127.0.0.1", 80});
  CHECK(parse_address("[::1]:80") == Address{"::1", 80});
  CHECK(parse_address("[::1]:80")->text() == "[::1]:80");
  for (const char* wrong : {"", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000"})
    CHECK_FALSE(parse_address(wrong));
}

}  // namespace
}  // namespace resprout::runtime::member

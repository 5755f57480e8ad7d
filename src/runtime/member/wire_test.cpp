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
  frame.radix = 1024;
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

Frame local_sample() {
  using protocols::Change;
  Frame frame;
  frame.kind = FrameKind::local_message;
  frame.local.from = rank_at(7);
  frame.local.to = rank_at(1 << 20);
  frame.local.kind = protocols::LocalKind::propose;
  frame.local.ballot = {rank_at(0), 3};
  frame.local.view = protocols::LocalView::first(5);
  frame.local.next = protocols::LocalView::first(4);
  frame.local.reach = protocols::Tally::first(4);
  frame.local.changes.note(rank_at(4), Change::fenced | Change::dead | Change::removed);
  frame.local.changes.note(rank_at(1 << 30), Change::added);
  return frame;
}

std::span<const std::uint8_t> body_of(const Bytes& bytes) { return std::span(bytes).subspan(4); }

TEST_CASE("a message arrives as it was sent, with the places of those in it") {
  const Bytes bytes = encode(sample());
  const auto read = decode(body_of(bytes));
  REQUIRE(read);
  CHECK(read->message == sample().message);
  CHECK(read->meant == sample().meant);
  CHECK(read->radix == 1024);
  REQUIRE(read->places.size() == 2);
  CHECK(read->places.at(4095).address == Address{"::1", 65535});
  CHECK(read->places.at(7).incarnation == 99);
}

TEST_CASE("what a program says arrives as it was said, and not if it is too long") {
  Frame frame;
  frame.kind = FrameKind::said;
  frame.meant = 77;
  frame.epoch = 12;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, said_bytes_max}) {
    frame.data.assign(size, 0xab);
    const auto read = decode(body_of(encode(frame)));
    REQUIRE(read);
    CHECK(read->kind == FrameKind::said);
    CHECK(read->meant == 77);
    CHECK(read->epoch == 12);
    CHECK(read->data == frame.data);
  }
  frame.data.push_back(0);
  CHECK_FALSE(decode(body_of(encode(frame))));
  const Bytes bytes = encode(frame);
  CHECK_FALSE(decode(std::span(bytes).subspan(4, 16)));
}

TEST_CASE("tags arrive as they were said, and what are no tags is no frame") {
  Frame frame;
  frame.kind = FrameKind::tags;
  frame.incarnation = 77;
  frame.address = {"::1", 4000};
  for (const char* const tags : {"", "dc=fra\nrole=db\n"}) {
    frame.tags = tags;
    const auto read = decode(body_of(encode(frame)));
    REQUIRE(read);
    CHECK(read->kind == FrameKind::tags);
    CHECK(read->incarnation == 77);
    CHECK(read->address == frame.address);
    CHECK(read->tags == tags);
  }
  const Bytes whole = encode(frame);
  for (std::size_t length = 0; length + 4 < whole.size(); ++length)
    CHECK_FALSE(decode(body_of(whole).first(length)));
  frame.tags = "role=\"\n";
  CHECK_FALSE(decode(body_of(encode(frame))));
}

TEST_CASE("a message of a local view arrives as it was sent, whatever its identifiers are") {
  const auto read = decode(body_of(encode(local_sample())));
  REQUIRE(read);
  CHECK(read->local == local_sample().local);
  CHECK(encode(local_sample()).size() < 250);
}

TEST_CASE("what a local view's process never says is no frame") {
  Frame frame = local_sample();
  frame.local.changes.note(rank_at(9), protocols::Change::contact);
  CHECK_FALSE(decode(body_of(encode(frame))));
  frame = local_sample();
  frame.local.from = no_rank;
  CHECK_FALSE(decode(body_of(encode(frame))));
  frame.kind = FrameKind::local_hello;
  CHECK_FALSE(decode(body_of(encode(frame))));  // identifier -1
}

TEST_CASE("a frame that is cut off, or goes on, is none") {
  for (const Bytes& bytes : {encode(sample()), encode(local_sample())}) {
    for (std::size_t length = 0; length + 4 < bytes.size(); ++length)
      CHECK_FALSE(decode(body_of(bytes).first(length)));
    Bytes longer = bytes;
    longer.push_back(0);
    CHECK_FALSE(decode(body_of(longer)));
  }
}

TEST_CASE("random bytes, and frames with wrong bytes, are refused or read, and nothing else") {
  Random random(1);
  const Bytes whole = encode(sample());
  const Bytes local = encode(local_sample());
  for (int i = 0; i < 20000; ++i) {
    const Bytes& good = i % 3 == 0 ? local : whole;
    Bytes bytes(random.below(80));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(i % 2 == 0 ? 256 : 8));
    decode(bytes);
    Bytes bent = good;
    bent[4 + random.below(bent.size() - 4)] = static_cast<std::uint8_t>(random.next());
    if (const auto read = decode(body_of(bent)))
      CHECK(index(i % 3 == 0 ? read->local.from : read->message.from) != -1);
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

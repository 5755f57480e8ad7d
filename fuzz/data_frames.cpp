// Frames of a rank's data (runtime/transports/tcp/wire.hpp) on a connection that has been proven:
// in whatever pieces they come, each that makes sense is delivered once, whole and in order, up to
// the first that makes none; and no memory is kept for what has half arrived.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "runtime/transports/tcp/incoming.hpp"

namespace {

using namespace resprout::runtime;
using tcp::Incoming;
using tcp::padded;
using tcp::WireHead;

// Of data; a receiver has to have memory for whatever a proven peer announces.
constexpr std::size_t data_bytes_max = 20'000;

void require(bool condition) {
  if (!condition) std::abort();
}

using Bytes = std::vector<std::uint8_t>;

// What the peer says, and which frames of it are due.
struct Said {
  Bytes bytes;
  std::vector<WireHead> due;
  std::vector<std::size_t> at;  // where their prefixes begin
};

// Of each frame the input has a head, whose lengths are cut to what there is memory for, and 2
// bytes that say how much of the body is said; the bodies are a pattern.
Said compose(std::span<const std::uint8_t> input) {
  Said said;
  while (input.size() >= sizeof(WireHead) + 2) {
    WireHead head;
    std::memcpy(&head, input.data(), sizeof head);
    std::uint16_t missing;
    std::memcpy(&missing, input.data() + sizeof head, 2);
    input = input.subspan(sizeof head + 2);
    const bool is_endless = head.data_bytes >= std::uint64_t{1} << 48;
    if (!is_endless) head.data_bytes %= data_bytes_max;
    const bool is_good = head.zero == 0 && head.prefix_bytes <= prefix_bytes_max && !is_endless;
    const auto* const raw = reinterpret_cast<const std::uint8_t*>(&head);
    said.bytes.insert(said.bytes.end(), raw, raw + sizeof head);
    if (!is_good) return said;
    std::size_t body = body_bytes(head);
    const bool is_whole = missing % 8 != 7;
    if (!is_whole) body -= std::min<std::size_t>(body, missing / 8);
    for (std::size_t i = 0; i < body; ++i) said.bytes.push_back(static_cast<std::uint8_t>(i * 7));
    if (body < body_bytes(head)) return said;
    said.due.push_back(head);
    said.at.push_back(said.bytes.size() - body);
  }
  // The beginning of a head.
  input = input.first(std::min(input.size(), sizeof(WireHead) - 1));
  said.bytes.insert(said.bytes.end(), input.begin(), input.end());
  return said;
}

class Checker final : public Receiver {
 public:
  explicit Checker(const Said& said) : said_(said) {}
  ~Checker() { require(allocated_ == nullptr); }

  std::byte* allocate_payload(int, const FrameHeader&, std::size_t bytes) override {
    require(allocated_ == nullptr && bytes > 0);
    return allocated_ = static_cast<std::byte*>(std::malloc(bytes));
  }
  void abandon_payload(int, std::byte* payload) override { release(payload); }
  void handle_broken_peer(int) override {}
  void handle_frame(int, const FrameHeader& header, std::span<const std::byte> prefix,
                    std::span<const std::byte> data, DataOwner owner) override {
    require(next_ < said_.due.size());
    const WireHead& due = said_.due[next_];
    const std::uint8_t* const body = said_.bytes.data() + said_.at[next_];
    require(std::memcmp(&header, &due.header, sizeof header) == 0);
    require(prefix.size() == due.prefix_bytes && data.size() == due.data_bytes);
    require(prefix.empty() || std::memcmp(prefix.data(), body, prefix.size()) == 0);
    require(data.empty() ||
            std::memcmp(data.data(), body + padded(prefix.size()), data.size()) == 0);
    if (owner == DataOwner::receiver) release(const_cast<std::byte*>(data.data()));
    ++next_;
  }
  bool has_all() const { return next_ == said_.due.size(); }

 private:
  void release(std::byte* payload) {
    require(payload == allocated_);
    std::free(std::exchange(allocated_, nullptr));
  }

  const Said& said_;
  std::size_t next_ = 0;
  std::byte* allocated_ = nullptr;
};

void prove(Incoming& incoming, int peer, const auth::Secret& secret) {
  auto handshake = auth::Handshake::initiate(secret, auth::Purpose::data, 1, 0);
  for (int turn = 0; turn < 8 && handshake.advance(peer) == auth::Handshake::State::running; ++turn)
    incoming.prove();
  require(incoming.state() == Incoming::State::ready);
}

}  // namespace

// Byte 0 says how large the pieces are: 31 bytes and 97 for each.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Said said = compose({data + 1, size - 1});
  const std::size_t piece = std::size_t{31} + std::size_t{data[0]} * 97;
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  auth::Secret secret;
  secret.fill(1);
  Checker checker(said);
  Incoming incoming(Fd{ends[0]}, 0, secret, 0);
  prove(incoming, ends[1], secret);
  for (std::size_t at = 0; at < said.bytes.size() && incoming.state() == Incoming::State::ready;) {
    const std::size_t length = std::min(piece, said.bytes.size() - at);
    const ssize_t sent = send(ends[1], said.bytes.data() + at, length, MSG_NOSIGNAL);
    if (sent > 0) at += static_cast<std::size_t>(sent);
    incoming.read(checker);
  }
  close(ends[1]);
  while (incoming.state() == Incoming::State::ready) incoming.read(checker);
  require(checker.has_all());
  incoming.abandon(checker);
  return 0;
}

// Two ends of one connection in one process; the test is the poller.
#include "runtime/net/proven_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "doctest/doctest.h"
#include "runtime/net/socket.hpp"

namespace resprout::runtime {
namespace {

constexpr std::size_t unsent_max = std::size_t{4} << 20;
constexpr int self = 3;
constexpr int other = 7;

auth::Secret secret_of(std::uint8_t first) {
  auth::Secret secret{};
  secret[0] = first;
  return secret;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Takes words that end with a point.
struct Words {
  std::string all;
  ProvenStream::Take take() {
    return [this](std::span<const std::uint8_t> bytes) -> std::optional<std::size_t> {
      std::size_t used = 0;
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] == '!') return std::nullopt;
        if (bytes[i] == '.') used = i + 1;
      }
      all.append(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(used));
      return used;
    };
  }
};

struct Pair {
  explicit Pair(std::uint8_t secret_of_acceptor = 1, std::size_t unsent = unsent_max)
      : listener(listen_on("127.0.0.1")),
        near(ProvenStream::connect(
            "127.0.0.1", local_port(listener),
            auth::Handshake::initiate(secret_of(1), auth::Purpose::membership, self, other),
            unsent)),
        far(ProvenStream::accept(accepted(),
                                 auth::Handshake::accept(secret_of(secret_of_acceptor),
                                                         auth::Purpose::membership, other),
                                 unsent)) {}

  Fd accepted() const {
    pollfd entry{listener.get(), POLLIN, 0};
    REQUIRE(poll(&entry, 1, 10000) == 1);
    return accept_on(listener);
  }

  // Until nothing more happens that `is_done` does not know of.
  template <typename IsDone>
  void run(IsDone is_done) {
    for (int i = 0; i < 10000 && !is_done(); ++i) {
      pollfd entries[2] = {{near.socket().get(), wanted(near), 0},
                           {far.socket().get(), wanted(far), 0}};
      poll(entries, 2, 1000);
      if (entries[0].revents != 0 && !near.is_over()) near.advance(heard_near.take());
      if (entries[1].revents != 0 && !far.is_over()) far.advance(heard_far.take());
    }
    REQUIRE(is_done());
  }
  void open() {
    run([this] { return near.is_open() && far.is_open(); });
  }
  static short wanted(const ProvenStream& stream) {
    if (stream.is_over()) return 0;
    const std::uint32_t events = stream.events();
    return static_cast<short>(((events & EPOLLIN) != 0 ? POLLIN : 0) |
                              ((events & EPOLLOUT) != 0 ? POLLOUT : 0));
  }

  Fd listener;
  ProvenStream near;
  ProvenStream far;
  Words heard_near;
  Words heard_far;
};

TEST_CASE("both ends know each other when the stream is open, and not before") {
  Pair pair;
  CHECK(pair.far.peer() == -1);
  pair.open();
  CHECK(pair.near.peer() == other);
  CHECK(pair.far.peer() == self);
  CHECK(pair.near.is_own());
  CHECK_FALSE(pair.far.is_own());
}

TEST_CASE("what is said before the stream is open comes when it is, in both directions") {
  Pair pair;
  pair.near.say(bytes_of("early."));
  pair.open();
  pair.far.say(bytes_of("answer."));
  pair.run([&] { return pair.heard_far.all == "early." && pair.heard_near.all == "answer."; });
}

TEST_CASE("the beginning of a word waits for its end") {
  Pair pair;
  pair.open();
  pair.near.say(bytes_of("one.tw"));
  pair.run([&] { return pair.heard_far.all == "one."; });
  pair.near.say(bytes_of("o."));
  pair.run([&] { return pair.heard_far.all == "one.two."; });
}

TEST_CASE("what was said before the end counts, and the end is one of a stream that was open") {
  Pair pair;
  pair.open();
  pair.near.say(bytes_of("last."));
  pair.near.socket().reset();
  pair.run([&] { return pair.far.is_over(); });
  CHECK(pair.heard_far.all == "last.");
  CHECK(pair.far.state() == ProvenStream::State::ended);
  CHECK(pair.far.has_opened());
}

TEST_CASE("with another secret, or foreign bytes, it never opens") {
  Pair pair(2);
  pair.run([&] { return pair.near.is_over() && (pair.far.is_over() || pair.far.is_young()); });
  CHECK_FALSE(pair.near.has_opened());
  CHECK_FALSE(pair.far.has_opened());

  const Fd listener = listen_on("127.0.0.1");
  const Fd stranger = connect_to("127.0.0.1", local_port(listener));
  pollfd entry{listener.get(), POLLIN, 0};
  REQUIRE(poll(&entry, 1, 10000) == 1);
  ProvenStream stream = ProvenStream::accept(
      accept_on(listener), auth::Handshake::accept(secret_of(1), auth::Purpose::membership, other),
      unsent_max);
  const std::string noise(4096, 'x');
  REQUIRE(send(stranger.get(), noise.data(), noise.size(), MSG_NOSIGNAL) > 0);
  Words words;
  for (int i = 0; i < 1000 && !stream.is_over(); ++i) {
    pollfd readable{stream.socket().get(), POLLIN, 0};
    poll(&readable, 1, 1000);
    stream.advance(words.take());
  }
  CHECK(stream.state() == ProvenStream::State::rejected);
  CHECK(words.all.empty());
}

TEST_CASE("nonsense ends the stream, and what came before it counts") {
  Pair pair;
  pair.open();
  pair.near.say(bytes_of("good."));
  pair.run([&] { return pair.heard_far.all == "good."; });
  pair.near.say(bytes_of("bad!good."));
  pair.run([&] { return pair.far.is_over(); });
  CHECK(pair.heard_far.all == "good.");
}

TEST_CASE("nobody listens: it is refused") {
  const std::uint16_t port = local_port(listen_on("127.0.0.1"));
  ProvenStream stream = ProvenStream::connect(
      "127.0.0.1", port,
      auth::Handshake::initiate(secret_of(1), auth::Purpose::membership, self, other), unsent_max);
  Words words;
  for (int i = 0; i < 1000 && !stream.is_over(); ++i) {
    pollfd writable{stream.socket().get(), POLLOUT, 0};
    poll(&writable, 1, 1000);
    stream.advance(words.take());
  }
  CHECK(stream.state() == ProvenStream::State::refused);
}

TEST_CASE("a peer that does not read loses the stream when too much is unsaid") {
  Pair pair(1, 100'000);
  pair.open();
  const std::string much(1 << 16, 'x');
  for (int i = 0; i < 1000 && !pair.near.is_over(); ++i) pair.near.say(bytes_of(much));
  CHECK(pair.near.state() == ProvenStream::State::ended);
}

TEST_CASE("who ends a stream that was not open has rejected it") {
  Pair pair;
  pair.near.end();
  CHECK(pair.near.state() == ProvenStream::State::rejected);
  Pair opened;
  opened.open();
  opened.near.end();
  opened.near.end();
  CHECK(opened.near.state() == ProvenStream::State::ended);
  opened.far.reject();
  CHECK_FALSE(opened.far.has_opened());
}

}  // namespace
}  // namespace resprout::runtime

#include "runtime/host_notices.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace resprout::runtime {
namespace {

// Memory that the processes of a host share.
struct Host {
  std::vector<std::uint64_t> board = std::vector<std::uint64_t>(NoticeBoard::notices_max);
  std::vector<std::uint64_t> bell = std::vector<std::uint64_t>(1);

  HostNotices process() {
    return {Doorbell(reinterpret_cast<std::byte*>(bell.data())),
            NoticeBoard(reinterpret_cast<std::byte*>(board.data()))};
  }
};

// Sessions have large numbers, so that a process is told from a session.
constexpr std::uint64_t session = std::uint64_t{1} << 40;

struct Read {
  std::vector<int> losses;
  std::vector<std::uint64_t> revocations;
};

Read read(HostNotices& notices) {
  Read all;
  notices.read([&](int rank) { all.losses.push_back(rank); },
               [&](std::uint64_t revoked) { all.revocations.push_back(revoked); });
  return all;
}

TEST_CASE("what one process posts the others read, once and in order") {
  Host host;
  HostNotices one = host.process();
  HostNotices other = host.process();
  CHECK_FALSE(other.has_unread());
  CHECK(one.post_death(7));
  CHECK(one.post_revocation(session));
  CHECK(one.post_death(0));
  CHECK(other.has_unread());
  const Read all = read(other);
  CHECK(all.losses == std::vector{7, 0});
  CHECK(all.revocations == std::vector{session});
  CHECK_FALSE(other.has_unread());
}

TEST_CASE("a loss that two processes find is posted once") {
  Host host;
  HostNotices one = host.process();
  HostNotices other = host.process();
  CHECK(one.post_death(3));
  CHECK(other.post_death(3));
  CHECK(read(one).losses == std::vector{3});
}

TEST_CASE("who revokes has nothing to read unless somebody else has said something") {
  Host host;
  HostNotices one = host.process();
  HostNotices other = host.process();
  CHECK(one.post_revocation(session));
  CHECK_FALSE(one.has_unread());
  CHECK_FALSE(one.is_rung());
  CHECK(other.is_rung());
  CHECK(other.post_revocation(session + 1));
  CHECK(read(other).revocations == std::vector{session, session + 1});
  CHECK(read(one).revocations == std::vector{session + 1});
}

TEST_CASE("reading the board answers the rings that came before") {
  Host host;
  HostNotices one = host.process();
  HostNotices other = host.process();
  one.post_revocation(session);
  read(other);
  CHECK_FALSE(other.is_rung());
  one.bell().ring();
  CHECK(other.is_rung());
  other.answer(other.bell().rings());
  CHECK_FALSE(other.is_rung());
}

TEST_CASE("where no memory is shared nothing can be posted") {
  HostNotices alone{{}, {}};
  CHECK_FALSE(alone.post_death(7));
  CHECK_FALSE(alone.has_unread());
  CHECK_FALSE(alone.is_rung());
}

}  // namespace
}  // namespace resprout::runtime

#include "runtime/open_sessions.hpp"

#include <algorithm>
#include <utility>

#include "core/invariant.hpp"
#include "core/random.hpp"
#include "runtime/farewell.hpp"

namespace resprout::runtime {
namespace {

// Closed sessions answer latecomers until this many younger ones have been closed.
constexpr std::size_t closed_max = 1024;
// Tells the session for the farewell apart from other children, which are counted.
constexpr std::uint64_t for_farewell = ~std::uint64_t{1};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t state = hash ^ value;
  return splitmix64(state);
}

std::uint64_t mix(const std::vector<int>& ranks) {
  std::uint64_t hash = ranks.size();
  for (const int rank : ranks) hash = mix(hash, static_cast<std::uint64_t>(rank));
  return hash;
}

}  // namespace

OpenSessions::OpenSessions(Progress& progress) : progress_(progress) {}
OpenSessions::~OpenSessions() = default;

Session& OpenSessions::open(const std::vector<int>& world_ranks) {
  return open(opened_[mix(world_ranks)]++, world_ranks);
}

Session& OpenSessions::open(std::uint64_t name, const std::vector<int>& world_ranks) {
  const std::uint64_t id = mix(mix(world_ranks), name);
  std::vector<Member> members;
  int self_comm_rank = -1;
  const int self = progress_.self();
  const bool is_on_one_host = std::all_of(world_ranks.begin(), world_ranks.end(), [&](int rank) {
    return rank == self || progress_.transport().shares_memory_with(rank);
  });
  for (int i = 0; i < static_cast<int>(world_ranks.size()); ++i) {
    members.push_back({i, world_ranks[static_cast<std::size_t>(i)]});
    if (members.back().world_rank == self) self_comm_rank = i;
  }
  RESPROUT_INVARIANT(self_comm_rank >= 0);
  auto& session = sessions_[id];
  session = std::make_unique<Session>(
      progress_, id, std::make_shared<const Members>(std::move(members), self_comm_rank),
      is_on_one_host);
  std::vector<EarlyFrame> orphans;
  for (std::size_t i = 0; i < orphans_.size();) {
    if (orphans_[i].header.communicator == id) {
      orphans.push_back(std::move(orphans_[i]));
      orphans_.erase(orphans_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  for (EarlyFrame& orphan : orphans) {
    session->handle_frame(orphan.peer, orphan.header, orphan.prefix, std::move(orphan.arrival));
  }
  if (revoked_early_.erase(id) != 0) session->handle_notice_of_host();
  if (progress_.is_cut_off()) session->cut_off();
  return *session;
}

void OpenSessions::close(Session& session) {
  session.close();
  if (session.is_revoked()) bid_farewell(session);
  retire(session);
}

void OpenSessions::bid_farewell(Session& session) {
  std::vector<int> everybody;
  for (int i = 0; i < session.everybody().size(); ++i)
    everybody.push_back(session.everybody().world_rank(rank_at(i)));
  Session& gathering = open(session.child(for_farewell), everybody);
  farewells_.push_back(std::make_unique<Farewell>(session, gathering));
}

void OpenSessions::advance_farewells() {
  std::vector<Session*> over;
  std::erase_if(farewells_, [&](const std::unique_ptr<Farewell>& farewell) {
    if (!farewell->advance()) return false;
    over.push_back(&farewell->gathering());
    return true;
  });
  for (Session* session : over) retire(*session);
}

void OpenSessions::retire(Session& session) {
  closed_.push_back(session.id());
  if (closed_.size() <= closed_max) return;
  const std::uint64_t oldest = closed_.front();
  closed_.erase(closed_.begin());
  if (const auto at = sessions_.find(oldest); at != sessions_.end())
    progress_.agenda().forget(*at->second);
  std::erase_if(farewells_, [&](const std::unique_ptr<Farewell>& farewell) {
    if (farewell->revoked().id() != oldest) return false;
    closed_.push_back(farewell->gathering().id());
    return true;
  });
  sessions_.erase(oldest);
  gone_.insert(oldest);
}

void OpenSessions::handle_frame(int peer, const FrameHeader& header,
                                std::span<const std::byte> prefix, Arrival arrival) {
  const auto session = sessions_.find(header.communicator);
  if (session != sessions_.end())
    session->second->handle_frame(peer, header, prefix, std::move(arrival));
  else if (!gone_.contains(header.communicator))
    orphans_.emplace_back(peer, header, prefix, std::move(arrival));
}

// It may be a session that this process has no part in.
void OpenSessions::handle_revocation(std::uint64_t id) {
  const auto session = sessions_.find(id);
  if (session != sessions_.end())
    session->second->handle_notice_of_host();
  else if (!gone_.contains(id))
    revoked_early_.insert(id);
}

void OpenSessions::handle_loss(int world_rank) {
  for (auto& [id, session] : sessions_) session->handle_loss(world_rank);
}

void OpenSessions::cut_off() {
  std::vector<Session*> all;  // a closed one opens another for its farewell
  for (auto& [id, session] : sessions_) all.push_back(session.get());
  for (Session* session : all) session->cut_off();
}

}  // namespace resprout::runtime

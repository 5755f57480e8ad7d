#include "runtime/engine.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "core/invariant.hpp"
#include "core/random.hpp"
#include "runtime/farewell.hpp"

namespace resprout::runtime {
namespace {

// Closed sessions answer latecomers until this many younger ones have been closed.
constexpr std::size_t closed_max = 1024;
// Tells the session for the farewell apart from other children, which are counted.
constexpr std::uint64_t for_farewell = ~std::uint64_t{1};

// What stands on the board: up to here 1 + the world rank of a process that has died, else the
// session that is revoked.
constexpr std::uint64_t loss_notice_max = 0xffffffff;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t state = hash ^ value;
  return splitmix64(state);
}

std::uint64_t mix(const std::vector<int>& ranks) {
  std::uint64_t hash = ranks.size();
  for (const int rank : ranks) hash = mix(hash, static_cast<std::uint64_t>(rank));
  return hash;
}

// By world rank; nothing where no memory is shared.
std::vector<std::byte*> lane_memory(const Transport& transport, int self, int world_size) {
  std::vector<std::byte*> memory;
  if (transport.lanes(self) == nullptr) return memory;
  for (int rank = 0; rank < world_size; ++rank) memory.push_back(transport.lanes(rank));
  return memory;
}

}  // namespace

Engine::Engine(int self, int world_size, Transport& transport, IdleStrategy idle)
    : self_(self),
      transport_(transport),
      idle_(idle),
      bell_(transport.bell()),
      board_(transport.board()),
      incoming_(static_cast<std::size_t>(world_size)),
      links_(self, transport),
      has_ended_(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(world_size))),
      lost_(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(world_size))),
      lane_pool_(lane_memory(transport, self, world_size), self,
                 [this](int rank) { return has_ended(rank); }) {}

Engine::~Engine() = default;

Time Engine::read_clock() {
  timespec ts{};
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return {ts.tv_sec * 1000000000 + ts.tv_nsec};
}

Session& Engine::open_session(Lock&, const std::vector<int>& world_ranks) {
  return open_session(opened_[mix(world_ranks)]++, world_ranks);
}

Session& Engine::open_session(Lock&, std::uint64_t name, const std::vector<int>& world_ranks) {
  return open_session(name, world_ranks);
}

Session& Engine::open_session(std::uint64_t name, const std::vector<int>& world_ranks) {
  const std::uint64_t id = mix(mix(world_ranks), name);
  std::vector<Member> members;
  int self_comm_rank = -1;
  const bool is_on_one_host = std::all_of(world_ranks.begin(), world_ranks.end(), [&](int rank) {
    return rank == self_ || transport_.shares_memory_with(rank);
  });
  for (int i = 0; i < static_cast<int>(world_ranks.size()); ++i) {
    members.push_back({i, world_ranks[static_cast<std::size_t>(i)]});
    if (members.back().world_rank == self_) self_comm_rank = i;
  }
  RESPROUT_INVARIANT(self_comm_rank >= 0);
  auto& session = sessions_[id];
  session = std::make_unique<Session>(
      *this, id, std::make_shared<const Members>(std::move(members), self_comm_rank),
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
  if (early_notices_.erase(id) != 0) session->handle_notice_of_host();
  if (is_cut_off()) session->cut_off();
  return *session;
}

void Engine::close_session(Lock&, Session& session) {
  session.close();
  if (session.is_revoked()) bid_farewell(session);
  retire(session);
}

void Engine::bid_farewell(Session& session) {
  std::vector<int> everybody;
  for (int i = 0; i < session.everybody().size(); ++i)
    everybody.push_back(session.everybody().world_rank(rank_at(i)));
  Session& gathering = open_session(session.child(for_farewell), everybody);
  farewells_.push_back(std::make_unique<Farewell>(session, gathering));
}

void Engine::advance_farewells() {
  std::vector<Session*> over;
  std::erase_if(farewells_, [&](const std::unique_ptr<Farewell>& farewell) {
    if (!farewell->advance()) return false;
    over.push_back(&farewell->gathering());
    return true;
  });
  for (Session* session : over) retire(*session);
}

void Engine::retire(Session& session) {
  closed_.push_back(session.id());
  if (closed_.size() <= closed_max) return;
  const std::uint64_t oldest = closed_.front();
  closed_.erase(closed_.begin());
  const auto names_oldest = [&](const Waiting& it) { return it.session->id() == oldest; };
  std::erase_if(to_flush_, names_oldest);
  std::erase_if(timed_, names_oldest);
  std::erase_if(to_settle_, names_oldest);
  std::erase_if(to_catch_up_, names_oldest);
  std::erase_if(farewells_, [&](const std::unique_ptr<Farewell>& farewell) {
    if (farewell->revoked().id() != oldest) return false;
    closed_.push_back(farewell->gathering().id());
    return true;
  });
  sessions_.erase(oldest);
  gone_.insert(oldest);
}

void Engine::note_loss(int world_rank) {
  {
    const std::lock_guard guard(news_mutex_);
    if (lost_[static_cast<std::size_t>(world_rank)].exchange(true)) return;
    news_.push_back(world_rank);
    last_loss_.store(read_clock().ticks, std::memory_order_relaxed);
    lost_count_.fetch_add(1, std::memory_order_release);
  }
  has_news_.store(true, std::memory_order_release);
}

void Engine::post_loss(int world_rank) {
  if (is_lost(world_rank)) return;
  const bool is_posted =
      board_.post(static_cast<std::uint64_t>(world_rank) + 1, read_notices_.load());
  note_end(world_rank);
  if (is_posted) bell_.ring();
}

void Engine::note_end(int world_rank) {
  has_ended_[static_cast<std::size_t>(world_rank)].store(true, std::memory_order_release);
  note_loss(world_rank);
}

void Engine::note_stops() {
  unsigned stopped = 0;
  std::vector<int> news;  // mostly none: others have posted them
  pulses_.for_each_stopped([&](int rank) {
    ++stopped;
    if (!is_lost(rank) && pulses_.has_died(rank)) news.push_back(rank);
  });
  if (!news.empty()) Pulses::settle();
  for (const int rank : news) post_loss(rank);
  for (const int rank : news) pulses_.let_others_pass(rank);
  for (const int rank : news) tell_of_stop_(rank);  // whose thread may want the processor at once
  known_stops_.store(stopped, std::memory_order_relaxed);
}

// Those whom a thread that waits has been told of, or has found.
void Engine::let_others_pass() const {
  pulses_.for_each_stopped([&](int rank) {
    if (has_ended_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire))
      pulses_.let_others_pass(rank);
  });
}

bool Engine::cut_off() {
  if (!transport_.withdraw()) return false;
  is_cut_off_.store(true, std::memory_order_release);
  has_news_.store(true, std::memory_order_release);
  return true;
}

// Nobody may go on with himself alone: the sessions fail before the others are lost.
void Engine::fail_all() {
  have_all_failed_ = true;
  std::vector<Session*> all;  // a closed one opens another for its farewell
  for (auto& [id, session] : sessions_) all.push_back(session.get());
  for (Session* session : all) session->cut_off();
  for (int rank = 0; rank < static_cast<int>(incoming_.size()); ++rank)
    if (rank != self_) note_loss(rank);
}

void Engine::handle_news() {
  has_news_.exchange(false, std::memory_order_acquire);
  if (is_cut_off() && !have_all_failed_) fail_all();
  transport_.progress(*this);  // what the dead said while they lived counts
  spread_losses();
  if (!links_.is_watching()) return;
  links_.handle_notes(read_clock());
  if (is_look_due_.exchange(false, std::memory_order_acquire)) look_at_links();
}

void Engine::look_at_links() {
  std::set<int> awaited;
  for (const auto& [id, session] : sessions_)
    session->for_each_awaited([&](int rank) { awaited.insert(rank); },
                              [&, of = id](const Members& members) {
                                const auto& ranks = links_.one_on_each_host(of, members);
                                awaited.insert(ranks.begin(), ranks.end());
                              });
  links_.look(read_clock(), std::move(awaited), [this](int rank) { return is_lost(rank); });
}

void Engine::call_for_a_look() {
  if (!links_.is_watching()) return;
  const Time time = read_clock();
  if (time.ticks < next_look_.load(std::memory_order_relaxed)) return;
  next_look_.store(time.ticks + links_.look_period_ns(), std::memory_order_relaxed);
  is_look_due_.store(true, std::memory_order_release);
  has_news_.store(true, std::memory_order_release);
}

void Engine::spread_losses() {
  std::vector<int> news;
  {
    const std::lock_guard guard(news_mutex_);
    news.swap(news_);
  }
  for (const int rank : news) transport_.close_peer(rank, *this);
  for (const int rank : news)
    for (auto& [id, session] : sessions_) session->handle_loss(rank);
}

std::vector<Rank> Engine::lost_members(const Members& members) const {
  std::vector<Rank> lost;
  if (lost_count() == 0) return lost;
  for (int i = 0; i < members.size(); ++i)
    if (is_lost(members.world_rank(rank_at(i)))) lost.push_back(rank_at(i));
  return lost;
}

bool Engine::progress() {
  if (read_board()) return true;
  if (!to_catch_up_.empty() && !is_lifelines_) catch_up();
  if (has_news_.load(std::memory_order_acquire)) handle_news();
  bool has_moved = transport_.progress(*this);
  if (!to_flush_.empty()) flush_waiting();
  if (links_.has_unsent()) links_.flush();
  if (!timed_.empty()) fire_deadlines();
  if (!lingering_.empty())
    std::erase_if(lingering_, [](const auto& operation) { return !operation->is_being_sent(); });
  if (!busy_.empty() && advance_tasks()) has_moved = true;
  if (!farewells_.empty()) advance_farewells();
  if (!has_moved && !to_settle_.empty()) {
    settle_one();
    has_moved = true;
  }
  return has_moved;
}

bool Engine::tick() {
  call_for_a_look();
  const Lock lock = lock_if_idle();
  return !lock || stand_in() || has_to_go_on();
}

void Engine::answer() {
  const std::uint32_t rings = bell_.rings();
  const Lock lock = lock_if_idle();
  if (!lock) return;
  if (!read_board() || has_news_.load(std::memory_order_acquire)) stand_in();
  answered_rings_.store(rings, std::memory_order_relaxed);
}

bool Engine::post(const Session& session) {
  if (session.id() <= loss_notice_max || !board_.post(session.id(), read_notices_)) return false;
  const std::uint32_t rings = bell_.ring();
  // Mostly nobody else has said anything meanwhile, and there is nothing to read or to answer.
  if (board_.at(read_notices_) == session.id()) {
    read_notices_.fetch_add(1, std::memory_order_release);
    std::uint32_t answered = rings - 1;
    answered_rings_.compare_exchange_strong(answered, rings, std::memory_order_relaxed);
  }
  return true;
}

// True if there was anything.
bool Engine::read_board() {
  if (!has_notice()) return false;
  const std::uint32_t rings = bell_.rings();
  while (const std::uint64_t notice = board_.at(read_notices_)) {
    act_on(notice);
    read_notices_.fetch_add(1, std::memory_order_release);
  }
  answered_rings_.store(rings, std::memory_order_relaxed);
  return true;
}

void Engine::act_on(std::uint64_t notice) {
  if (notice <= loss_notice_max) {
    RESPROUT_INVARIANT(notice <= incoming_.size());
    return note_end(static_cast<int>(notice - 1));
  }
  const auto session = sessions_.find(notice);  // which may be one that this process has no part in
  if (session != sessions_.end())
    session->second->handle_notice_of_host();
  else if (!gone_.contains(notice))
    early_notices_.insert(notice);
}

// None of the program's threads is inside.
Lock Engine::lock_if_idle() {
  if (waiting_.load(std::memory_order_relaxed) > 0) return open_lock();
  return Lock(mutex_, std::try_to_lock);
}

// Drives everything for a while in the place of the program's threads.
bool Engine::stand_in() {
  is_lifelines_ = true;
  int rounds = 0;
  while (rounds < 1000 && progress()) ++rounds;
  is_lifelines_ = false;
  return rounds > 0;
}

// Something is under way, or may be wanted by others at any moment.
bool Engine::has_to_go_on() const {
  return lost_count() != 0 || links_.has_unsent() || !to_flush_.empty() || !timed_.empty() ||
         !to_settle_.empty() || !to_catch_up_.empty() || !busy_.empty() || !farewells_.empty() ||
         !lingering_.empty();
}

void Engine::drive(Lock&) {
  for (int rounds = 0; rounds < 1000 && progress(); ++rounds) {
  }
}

void Engine::maybe_drive() {
  Lock lock(mutex_, std::try_to_lock);
  if (lock) drive(lock);
}

void Engine::read_notices(Lock&) { read_board(); }

void Engine::give_way(Lock& lock) {
  if (idle_.is_crowded()) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  read_notices(lock);
}

void Engine::finish_tasks(Lock& lock) {
  wait_until(lock, [&] { return busy_.empty(); });
}

bool Engine::advance_tasks() {
  bool has_ended = false;
  std::erase_if(busy_, [&](Session* session) {
    has_ended = session->advance_tasks() || has_ended;
    return !session->has_tasks();
  });
  return has_ended;
}

void Engine::catch_up_later(Session& session, std::uint64_t operation) {
  for (const Waiting& waiting : to_catch_up_)
    if (waiting.session == &session && waiting.operation == operation) return;
  to_catch_up_.push_back({&session, operation});
}

void Engine::catch_up() {
  std::vector<Waiting> waitings;
  waitings.swap(to_catch_up_);
  for (const Waiting& waiting : waitings) waiting.session->catch_up(waiting.operation);
}

void Engine::come_back(Session& session, std::uint64_t operation) {
  if (!to_flush_.empty() && to_flush_.back().session == &session &&
      to_flush_.back().operation == operation)
    return;
  to_flush_.push_back({&session, operation});
}

void Engine::wake_at_deadline(Session& session, std::uint64_t operation) {
  for (const Waiting& waiting : timed_)
    if (waiting.session == &session && waiting.operation == operation) return;
  timed_.push_back({&session, operation});
}

void Engine::flush_waiting() {
  flushing_.clear();
  flushing_.swap(to_flush_);
  for (const Waiting& waiting : flushing_) waiting.session->flush(waiting.operation);
}

void Engine::settle_one() {
  const Waiting waiting = to_settle_.front();
  to_settle_.pop_front();
  waiting.session->settle(waiting.operation);
}

void Engine::fire_deadlines() {
  const Time time = now();
  std::vector<Waiting> waitings;
  waitings.swap(timed_);
  for (const Waiting& waiting : waitings) {
    Operation* operation = waiting.session->find(waiting.operation);
    if (operation == nullptr || operation->deadline().at == never) continue;
    const bool has_to_wait = is_lifelines_ && operation->is_for_program();
    if (operation->deadline().at <= time && !has_to_wait) {
      operation->handle_time(time);
      waiting.session->flush(*operation);
    } else {
      timed_.push_back(waiting);
    }
  }
}

std::byte* Engine::allocate_payload(int peer, const FrameHeader&, std::size_t bytes) {
  auto& buffer = incoming_[static_cast<std::size_t>(peer)];
  buffer = Buffer(bytes);
  return buffer.data();
}

void Engine::abandon_payload(int peer, std::byte*) {
  incoming_[static_cast<std::size_t>(peer)] = Buffer();
}

void Engine::handle_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                          std::span<const std::byte> data, DataOwner owner) {
  Arrival arrival{data, {}, owner == DataOwner::shared};
  if (owner == DataOwner::receiver)
    arrival.owned = std::move(incoming_[static_cast<std::size_t>(peer)]);
  const auto session = sessions_.find(header.communicator);
  if (session != sessions_.end()) {
    session->second->handle_frame(peer, header, prefix, std::move(arrival));
  } else if (header.communicator == links_id) {
    links_.handle_frame(peer, header.message);
  } else if (!gone_.contains(header.communicator)) {
    orphans_.emplace_back(peer, header, prefix, std::move(arrival));
  }
}

std::string Engine::describe() {
  Lock lock(mutex_, std::try_to_lock);
  for (int tries = 0; !lock && tries < 1000; ++tries) {
    const timespec nap{0, 100000};
    nanosleep(&nap, nullptr);
    lock.try_lock();
  }
  std::string text = "rank " + std::to_string(self_) + ", lost " + std::to_string(lost_count());
  if (!lock) return text + ", busy: the engine's lock is held by somebody who does not let go";
  text += ", orphans " + std::to_string(orphans_.size()) + ", to flush " +
          std::to_string(to_flush_.size());
  for (const auto& [id, session] : sessions_) text += "\n" + session->describe();
  return text;
}

}  // namespace resprout::runtime

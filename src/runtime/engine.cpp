#include "runtime/engine.hpp"

#include <time.h>

#include <set>
#include <utility>

#include "core/invariant.hpp"

namespace resprout::runtime {

Engine::Engine(int self, int world_size, Transport& transport, IdleStrategy idle)
    : Progress(self, world_size, transport, idle),
      slot_pool_(transport.shared_slots(), self, [this](int rank) { return has_ended(rank); }),
      incoming_(static_cast<std::size_t>(world_size)),
      links_(self, transport) {}

void Engine::tell_of_revocation(const Session& session) {
  revocation_count_.fetch_add(1, std::memory_order_release);
  if (tell_ != nullptr) tell_(session);
}

void Engine::handle_news() {
  take_news();
  if (is_cut_off() && !have_all_failed_) {
    have_all_failed_ = true;
    sessions_.cut_off();  // before the others are lost: nobody may go on alone
    for (int rank = 0; rank < static_cast<int>(incoming_.size()); ++rank)
      if (rank != self()) report_failure(rank);
  }
  transport().progress(*this);  // what the dead said while they lived counts
  const std::vector<int> losses = take_losses();
  for (const int rank : losses) transport().close_peer(rank, *this);
  for (const int rank : losses) sessions_.handle_loss(rank);
  if (!links_.is_watching()) return;
  links_.handle_notes(Clock::read());
  if (is_look_due_.exchange(false, std::memory_order_acquire)) look_at_links();
}

void Engine::look_at_links() {
  std::set<int> awaited;
  sessions_.for_each([&](const Session& session) {
    session.for_each_awaited([&](int rank) { awaited.insert(rank); },
                             [&](const Members& members) {
                               const auto& ranks = links_.one_on_each_host(session.id(), members);
                               awaited.insert(ranks.begin(), ranks.end());
                             });
  });
  links_.look(Clock::read(), std::move(awaited),
              [this](int rank) { return losses().is_lost(rank); });
}

void Engine::call_for_a_look() {
  if (!links_.is_watching()) return;
  const Time time = Clock::read();
  if (time.ticks < next_look_.load(std::memory_order_relaxed)) return;
  next_look_.store(time.ticks + links_.look_period_ns(), std::memory_order_relaxed);
  is_look_due_.store(true, std::memory_order_release);
  note_news();
}

bool Engine::progress() {
  if (read_notices()) return true;
  if (agenda().has_missed() && !is_lifelines())
    agenda().catch_up([](Session& session, std::uint64_t number) { session.catch_up(number); });
  if (has_news()) handle_news();
  bool has_moved = transport().progress(*this);
  if (agenda().has_unsent())
    agenda().flush([](Session& session, std::uint64_t number) { session.flush(number); });
  if (links_.has_unsent()) links_.flush();
  if (agenda().has_deadlines()) fire_deadlines();
  agenda().drop_what_is_sent();
  if (agenda().has_tasks() && advance_tasks()) has_moved = true;
  if (sessions_.has_farewells()) sessions_.advance_farewells();
  if (has_moved) return true;
  return agenda().settle_one(
      [](Session& session, std::uint64_t number) { session.settle(number); });
}

void Engine::ask_awaited() {
  sessions_.for_each([](Session& session) { session.standstill.ask_awaited(); });
}

bool Engine::tick() {
  call_for_a_look();
  const Lock lock = lock_if_idle();
  return !lock || progress_for_program() || has_to_go_on();
}

void Engine::answer() {
  const std::uint32_t rings = notices().bell().rings();
  const Lock lock = lock_if_idle();
  if (!lock) return;
  if (!read_notices() || has_news()) progress_for_program();
  notices().answer(rings);
}

bool Engine::read_notices() {
  return notices().read(
      [this](int rank) {
        RESPROUT_INVARIANT(rank < static_cast<int>(incoming_.size()));
        note_death(rank);
      },
      [this](std::uint64_t session) { sessions_.handle_revocation(session); });
}

// None of the program's threads is inside.
Lock Engine::lock_if_idle() { return is_idle() ? try_lock() : open_lock(); }

// Drives everything for a while in the place of the program's threads.
bool Engine::progress_for_program() {
  set_lifelines(true);
  int rounds = 0;
  while (rounds < 1000 && progress()) ++rounds;
  set_lifelines(false);
  return rounds > 0;
}

// Something is under way, or may be wanted by others at any moment.
bool Engine::has_to_go_on() {
  return losses().count() != 0 || links_.has_unsent() || !agenda().is_empty() ||
         sessions_.has_farewells();
}

void Engine::drive(Lock&) {
  for (int rounds = 0; rounds < 1000 && progress(); ++rounds) {
  }
}

void Engine::maybe_drive() {
  Lock lock = try_lock();
  if (lock) drive(lock);
}

bool Engine::advance_tasks() {
  bool has_ended = false;
  agenda().advance_tasks([&](Session& session) {
    has_ended = session.advance_tasks() || has_ended;
    return !session.has_tasks();
  });
  return has_ended;
}

void Engine::fire_deadlines() {
  const Time time = now();
  agenda().wake([&](Session& session, std::uint64_t number) {
    Operation* operation = session.find(number);
    if (operation == nullptr || operation->deadline().at == never) return false;
    const bool has_to_wait = is_lifelines() && operation->is_for_program();
    if (operation->deadline().at > time || has_to_wait) return true;
    operation->handle_time(time);
    session.flush(*operation);
    return false;
  });
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
  if (header.communicator == links_id)
    links_.handle_frame(peer, header.message);
  else
    sessions_.handle_frame(peer, header, prefix, std::move(arrival));
}

std::string Engine::describe() {
  Lock lock = try_lock();
  for (int tries = 0; !lock && tries < 1000; ++tries) {
    const timespec nap{0, 100000};
    nanosleep(&nap, nullptr);
    lock.try_lock();
  }
  std::string text =
      "rank " + std::to_string(self()) + ", lost " + std::to_string(losses().count());
  if (!lock) return text + ", busy: the engine's lock is held by somebody who does not let go";
  text += ", orphans " + std::to_string(sessions_.orphan_count()) + ", to flush " +
          std::to_string(agenda().unsent_count());
  sessions_.for_each([&](const Session& session) { text += "\n" + session.describe(); });
  return text;
}

}  // namespace resprout::runtime

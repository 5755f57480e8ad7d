#include "runtime/replicas/plane_links.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "core/invariant.hpp"
#include "runtime/mutex.hpp"
#include "runtime/net/clock.hpp"
#include "runtime/net/socket.hpp"

namespace resprout::runtime {
namespace {

constexpr std::uint64_t key_of_listener = 0;
constexpr std::uint64_t key_of_wake = 1;
constexpr std::uint64_t key_of_timer = 2;
// The peer's thread reads at all times; what it has no use for yet it keeps.
constexpr std::size_t unsent_bytes_max = std::numeric_limits<std::size_t>::max();
// Who is asked to take our last words may have stopped reading for good.
constexpr std::int64_t farewell_ns = 5'000'000'000;

// Of two times to wait; -1: for ever.
int sooner(int a, int b) { return a < 0 ? b : b < 0 ? a : std::min(a, b); }

// Of an eventfd, or a timerfd.
void take_count(const Fd& fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = read(fd.get(), &count, sizeof count);
}

void append_bytes(std::vector<std::uint8_t>& to, std::span<const std::byte> bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  to.insert(to.end(), first, first + bytes.size());
}

}  // namespace

PlaneLinks::PlaneLinks(Setup setup, OnFrame on_frame, OnPlaneLost on_plane_lost)
    : setup_(std::move(setup)),
      on_frame_{std::move(on_frame)},
      on_plane_lost_(std::move(on_plane_lost)),
      listener_(listen_on(setup_.listen_address)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      is_lost_(static_cast<std::size_t>(setup_.planes)),
      is_process_lost_(static_cast<std::size_t>(setup_.planes * setup_.ranks)),
      has_left_(is_process_lost_.size()),
      read_from_(has_left_.size()),
      unsent_(has_left_.size()) {
  if (!wake_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  if (!timer_.is_open()) throw std::system_error(errno, std::generic_category(), "timerfd");
  poller_.add(listener_, key_of_listener, EPOLLIN);
  poller_.add(wake_, key_of_wake, EPOLLIN);
  poller_.add(timer_, key_of_timer, EPOLLIN);
}

PlaneLinks::~PlaneLinks() { leave(); }

void PlaneLinks::listen(Channel channel, OnFrame on_frame) {
  RESPROUT_INVARIANT(!thread_.joinable());
  on_frame_[static_cast<std::size_t>(channel)] = std::move(on_frame);
}

LinkAddress PlaneLinks::address() const {
  LinkAddress address;
  RESPROUT_INVARIANT(setup_.listen_address.size() < address.host.size());
  setup_.listen_address.copy(address.host.data(), address.host.size() - 1);
  address.port = local_port(listener_);
  return address;
}

bool PlaneLinks::is_known(int number) const {
  return number >= 0 && number < setup_.planes * setup_.ranks && number != number_of(setup_.self);
}

void PlaneLinks::connect(std::vector<LinkAddress> addresses) {
  RESPROUT_INVARIANT(addresses.size() == has_left_.size() && !thread_.joinable());
  addresses_ = std::move(addresses);
  // The program's signals are for the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void PlaneLinks::send(Replica to, const VoteFrame& frame, std::span<const std::byte> bytes) {
  send(to, Channel::votes, bytes_of(frame), bytes);
}

void PlaneLinks::send(Replica to, Channel channel, std::span<const std::byte> frame) {
  send(to, channel, frame, {});
}

void PlaneLinks::send(Replica to, Channel channel, std::span<const std::byte> head,
                      std::span<const std::byte> rest) {
  const int number = number_of(to);
  RESPROUT_INVARIANT(is_known(number));
  bool is_expected = false;  // somebody will send it out
  bool is_patient = channel == Channel::votes && setup_.linger.ns > 0 && !is_hurried_.load();
  {
    const MutexLock lock(mutex_);
    Unsent& unsent = unsent_[static_cast<std::size_t>(number)];
    if (unsent.bytes.empty()) spoken_to_.push_back(number);
    if (!maybe_place(unsent, channel, head, rest)) append(unsent, channel, head, rest);
    is_patient = is_patient && unsent.bytes.size() + unsent.placed < setup_.linger.bytes;
    unsent.is_due |= !is_patient;
    is_expected = std::exchange(is_patient ? is_timer_set_ : is_awake_, true);
  }
  if (is_expected) return;
  if (is_patient)
    set_timer();
  else
    wake();
}

bool PlaneLinks::expect() {
  if (setup_.linger.ns <= 0 || is_hurried_.load()) return false;
  {
    const MutexLock lock(mutex_);
    if (std::exchange(is_timer_set_, true)) return true;
  }
  set_timer();
  return true;
}

void PlaneLinks::append(Unsent& unsent, Channel channel, std::span<const std::byte> head,
                        std::span<const std::byte> rest) {
  const std::uint64_t length = sizeof channel + head.size() + rest.size();
  append_bytes(unsent.bytes, std::as_bytes(std::span(&length, 1)));
  append_bytes(unsent.bytes, std::as_bytes(std::span(&channel, 1)));
  append_bytes(unsent.bytes, head);
  append_bytes(unsent.bytes, rest);
}

void PlaneLinks::leave() {
  if (!thread_.joinable()) return;
  is_leaving_.store(true);
  wake();
  thread_.join();
}

void PlaneLinks::wake() {
  const std::uint64_t one = 1;
  // If it is full, the thread is awake.
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
}

void PlaneLinks::set_timer() {
  constexpr std::int64_t second = 1'000'000'000;
  const itimerspec at{.it_interval = {},
                      .it_value = {setup_.linger.ns / second, setup_.linger.ns % second}};
  timerfd_settime(timer_.get(), 0, &at, nullptr);
}

// --- the thread
// ---------------------------------------------------------------------------------

void PlaneLinks::run() {
  MutexLock lock(driving_);
  for (std::int32_t plane = 0; plane < setup_.planes; ++plane)
    if (plane != setup_.self.plane) outgoing_to({plane, setup_.self.rank});
  std::array<epoll_event, 32> events;
  std::int64_t deadline = 0;
  for (;;) {
    send_out(Then::sleep, What::due);
    if (is_leaving_.load() && deadline == 0) {
      send_all(Then::sleep);  // what was sent before it was said
      say_farewell();
      deadline = monotonic_ns() + farewell_ns;
    }
    if (deadline != 0 && (!has_unsent() || monotonic_ns() > deadline)) return;
    const int patience = deadline != 0 ? 10 : sooner(look_at_young(), look_at_planes());
    lock.unlock();
    const auto ready = poller_.wait(events, patience);
    lock.lock();
    note_awake();
    handle(ready);
  }
}

// What was ready may have been handled by another thread meanwhile.
void PlaneLinks::handle(std::span<const epoll_event> events) {
  for (const epoll_event& event : events) {
    if (event.data.u64 == key_of_listener) {
      accept_all();
    } else if (event.data.u64 == key_of_wake) {
      take_count(wake_);
    } else if (event.data.u64 == key_of_timer) {
      take_count(timer_);
      note_due();
    } else {
      advance(event.data.u64);
    }
  }
}

void PlaneLinks::drive() {
  if (!driving_.try_lock()) return;
  const MutexLock lock(driving_, std::adopt_lock);
  if (!thread_.joinable()) return;
  send_all(Then::go_on);
  std::array<epoll_event, 32> events;
  for (const epoll_event& event : poller_.wait(events, 0)) {
    if (event.data.u64 == key_of_wake || event.data.u64 == key_of_timer)
      continue;  // that is for the thread
    if (event.data.u64 == key_of_listener) {
      accept_all();
      wake();  // it sees to who does not prove to be anybody in time
    } else {
      advance(event.data.u64);
    }
  }
  send_all(Then::go_on);
}

// What is said from here on goes out before the thread sleeps again.
void PlaneLinks::note_awake() {
  const MutexLock lock(mutex_);
  is_awake_ = true;
}

// What has been patient was so long enough.
void PlaneLinks::note_due() {
  {
    const MutexLock lock(mutex_);
    is_timer_set_ = false;  // who puts something off from here on sets it again
  }
  setup_.on_due();
  const MutexLock lock(mutex_);
  for (const int number : spoken_to_) unsent_[static_cast<std::size_t>(number)].is_due = true;
}

void PlaneLinks::accept_all() {
  for (Fd socket = accept_on(listener_); socket.is_open(); socket = accept_on(listener_)) {
    const auto handshake =
        auth::Handshake::accept(setup_.secret, auth::Purpose::replicas, number_of(setup_.self));
    add(ProvenStream::accept(std::move(socket), handshake, unsent_bytes_max));
  }
}

void PlaneLinks::add(ProvenStream stream) {
  const Key key = ++last_key_;
  const std::int64_t deadline = monotonic_ns() + auth::handshake_deadline_ns;
  const std::uint32_t events = stream.events();
  const auto at = links_.emplace(key, Link{std::move(stream), deadline, events}).first;
  if (at->second.stream.is_over())
    drop(at);
  else
    poller_.add(at->second.stream.socket(), key, events);
}

void PlaneLinks::advance(Key key) {
  const auto at = links_.find(key);
  if (at == links_.end()) return;
  Link& link = at->second;
  link.stream.advance([&](std::span<const std::uint8_t> bytes) { return take(link, bytes); });
  // Whoever proved to be somebody that cannot be there knows the secret, and yet is wrong.
  if (link.stream.has_opened() && !is_known(link.stream.peer())) link.stream.reject();
  if (link.stream.is_over())
    drop(at);
  else
    wait_for(link, key);
}

int PlaneLinks::look_at_young() {
  std::int64_t next = 0;
  const std::int64_t now = monotonic_ns();
  std::vector<Key> late;
  for (const auto& [key, link] : links_) {
    // Those that we began wait for a process of ours, which may be slow, but is there.
    if (!link.stream.is_young() || link.stream.is_own()) continue;
    if (now >= link.deadline)
      late.push_back(key);
    else
      next = next == 0 ? link.deadline : std::min(next, link.deadline);
  }
  for (const Key key : late) {
    advance(key);  // its proof may lie there: it is not its fault that this thread is late
    if (const auto at = links_.find(key); at != links_.end() && at->second.stream.is_young())
      drop(at);
  }
  return next == 0 ? -1 : static_cast<int>((next - now) / 1'000'000) + 1;
}

int PlaneLinks::look_at_planes() {
  if (!setup_.is_known_lost) return -1;
  const std::int64_t now = monotonic_ns();
  if (now >= look_at_) {
    look_at_ = now + setup_.look_ns;
    for (std::int32_t plane = 0; plane < setup_.planes; ++plane)
      if (plane != setup_.self.plane && setup_.is_known_lost(plane)) lose_all_of(plane);
  }
  return static_cast<int>((look_at_ - now) / 1'000'000) + 1;
}

bool PlaneLinks::has_open_from(int number) const {
  return std::any_of(links_.begin(), links_.end(), [&](const auto& entry) {
    const ProvenStream& stream = entry.second.stream;
    return !stream.is_own() && stream.is_open() && stream.peer() == number;
  });
}

std::optional<std::size_t> PlaneLinks::take(Link& link, std::span<const std::uint8_t> bytes) {
  if (!is_known(link.stream.peer()) || link.stream.is_own()) return std::nullopt;
  const Replica from = replica_of(link.stream.peer());
  std::size_t used = 0;
  std::uint64_t length = 0;
  while (bytes.size() - used >= sizeof length) {
    std::memcpy(&length, bytes.data() + used, sizeof length);
    if (bytes.size() - used - sizeof length < length) break;
    used += sizeof length;
    if (length == 0) {
      has_left_[static_cast<std::size_t>(link.stream.peer())] = true;
      if (setup_.on_process_lost) lose_process(link.stream.peer());
    } else if (!is_gone(link.stream.peer())) {
      const auto read = read_channel_frame(std::as_bytes(bytes.subspan(used, length)));
      if (!read || !hand_out(from, read->channel, read->frame)) return std::nullopt;
    }
    used += length;
  }
  return used;
}

bool PlaneLinks::hand_out(Replica from, Channel channel, std::span<const std::byte> frame) {
  if (channel == Channel::memory) return take_note(from, frame);
  const OnFrame& on_frame = on_frame_[static_cast<std::size_t>(channel)];
  if (on_frame) on_frame(from, frame);
  return true;
}

void PlaneLinks::drop(std::map<Key, Link>::iterator at) {
  Link link = std::move(at->second);
  links_.erase(at);
  poller_.remove_and_close(link.stream.socket());
  end_of(link);
}

// A sibling that stops speaking without a farewell was lost, and so was its plane. If it only stops
// listening, it may have said farewell and we have not read it yet.
void PlaneLinks::end_of(Link& link) {
  const int peer = link.stream.peer();
  const bool is_own = link.stream.is_own();
  if (!is_known(peer) || (!is_own && !link.stream.has_opened())) {
    ++rejected_;
    return;
  }
  const Replica replica = replica_of(peer);
  if (is_own) outgoing_.erase(replica);
  if (is_own && link.stream.was_given_up()) return say_again(replica, link.stream.take_unsent());
  if (is_own && has_open_from(peer)) return;
  if (has_left_[static_cast<std::size_t>(peer)]) return;
  if (setup_.on_process_lost) {
    lose_process(peer);
  } else if (is_sibling(replica)) {
    lose(replica.plane);
  }
}

// One of us was too slow to prove itself in time; it is there, or it will refuse.
void PlaneLinks::say_again(Replica to, const std::vector<std::uint8_t>& bytes) {
  if (Link* link = outgoing_to(to)) say(*link, outgoing_.at(to), bytes);
}

void PlaneLinks::lose_process(int number) {
  if (is_gone(number)) return;
  is_process_lost_[static_cast<std::size_t>(number)] = true;
  is_hurried_.store(true);
  setup_.on_process_lost(replica_of(number));
}

void PlaneLinks::lose_all_of(std::int32_t plane) {
  if (!setup_.on_process_lost) return lose(plane);
  for (std::int32_t rank = 0; rank < setup_.ranks; ++rank) lose_process(number_of({plane, rank}));
}

void PlaneLinks::lose(std::int32_t plane) {
  if (is_lost_[static_cast<std::size_t>(plane)]) return;
  is_lost_[static_cast<std::size_t>(plane)] = true;
  for (auto at = links_.begin(); at != links_.end();) {
    const int peer = at->second.stream.peer();
    const bool is_of_it = is_known(peer) && replica_of(peer).plane == plane;
    const auto next = std::next(at);
    if (is_of_it) {
      poller_.remove_and_close(at->second.stream.socket());
      links_.erase(at);
    }
    at = next;
  }
  std::erase_if(outgoing_, [&](const auto& entry) { return entry.first.plane == plane; });
  for (std::int32_t rank = 0; rank < setup_.ranks; ++rank) {
    const auto number = static_cast<std::size_t>(number_of({plane, rank}));
    read_from_[number].reset();
    const MutexLock lock(mutex_);
    give_up_memory(unsent_[number]);
  }
  on_plane_lost_(plane);
}

void PlaneLinks::send_all(Then then) {
  setup_.on_due();
  send_out(then, What::all);
}

void PlaneLinks::send_out(Then then, What what) {
  {
    const MutexLock lock(mutex_);
    if (then == Then::sleep) is_awake_ = false;
    std::erase_if(spoken_to_, [&](int number) RESPROUT_REQUIRES(mutex_) {
      Unsent& unsent = unsent_[static_cast<std::size_t>(number)];
      if (what == What::due && !unsent.is_due) return false;
      unsent.is_due = false;
      unsent.placed = 0;
      going_out_.emplace_back(number, std::exchange(unsent.bytes, {}));
      return true;
    });
  }
  for (const auto& [number, bytes] : going_out_) {
    const Replica to = replica_of(number);
    if (Link* link = outgoing_to(to)) say(*link, outgoing_.at(to), bytes);
  }
  going_out_.clear();
}

// What there is no room for now goes out when the poller says so, as does what is said too early.
void PlaneLinks::say(Link& link, Key key, std::span<const std::uint8_t> bytes) {
  link.stream.say(bytes);
  wait_for(link, key);
}

void PlaneLinks::wait_for(Link& link, Key key) {
  const std::uint32_t events = link.stream.events();
  if (std::exchange(link.events, events) != events)
    poller_.modify(link.stream.socket(), key, events);
}

// Null: nothing can be said to it any more.
PlaneLinks::Link* PlaneLinks::outgoing_to(Replica to) {
  const auto number = static_cast<std::size_t>(number_of(to));
  if (is_gone(number_of(to)) || has_left_[number]) return nullptr;
  if (const auto known = outgoing_.find(to); known != outgoing_.end())
    return &links_.at(known->second);
  const LinkAddress& address = addresses_[number];
  if (!address.is_somewhere()) {
    if (setup_.on_process_lost)
      lose_process(number_of(to));
    else
      lose(to.plane);
    return nullptr;
  }
  const auto handshake = auth::Handshake::initiate(setup_.secret, auth::Purpose::replicas,
                                                   number_of(setup_.self), number_of(to));
  outgoing_[to] = last_key_ + 1;
  add(ProvenStream::connect(address.host.data(), address.port, handshake, unsent_bytes_max));
  const auto made = outgoing_.find(to);
  return made != outgoing_.end() ? &links_.at(made->second) : nullptr;
}

// --- the end
// ------------------------------------------------------------------------------------

void PlaneLinks::say_farewell() {
  constexpr std::array<std::uint8_t, 8> farewell{};
  std::vector<Key> keys;
  for (const auto& [to, key] : outgoing_) keys.push_back(key);
  for (const Key key : keys) {
    const auto at = links_.find(key);
    if (at == links_.end()) continue;  // its plane was lost meanwhile
    say(at->second, key, farewell);
  }
}

// Who has left takes nothing any more, not even our connection.
bool PlaneLinks::has_unsent() const {
  for (const auto& [to, key] : outgoing_) {
    if (has_left_[static_cast<std::size_t>(number_of(to))]) continue;
    const ProvenStream& stream = links_.at(key).stream;
    if (stream.is_young() || stream.has_unsent()) return true;
  }
  return false;
}

}  // namespace resprout::runtime

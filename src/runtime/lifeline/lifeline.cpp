#include "runtime/lifeline/lifeline.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/invariant.hpp"
#include "runtime/lifeline/overlay.hpp"
#include "runtime/lifeline/roster.hpp"
#include "runtime/lifeline/siblings.hpp"
#include "runtime/lifeline/views.hpp"
#include "runtime/mutex.hpp"
#include "runtime/net/clock.hpp"
#include "runtime/net/poller.hpp"
#include "runtime/net/socket.hpp"

namespace resprout::runtime {
namespace {

constexpr std::uint64_t wake_key = 0;
constexpr std::uint64_t listener_key = 1;
constexpr std::uint64_t sibling_key = std::uint64_t{1} << 32;  // + rank
constexpr std::uint64_t link_key = std::uint64_t{2} << 32;     // + serial

// When many leave at once, the graph is not mended for those who are about to leave themselves.
constexpr std::int64_t heal_after_goodbye_ns = 200'000'000;
// After a loss those who wait for a result come first.
constexpr std::int64_t heal_after_loss_ns = 5'000'000;
// How long a leaving process passes on what others say, and how long it tries to be heard.
constexpr std::int64_t farewell_ns = 5'000'000;
constexpr std::int64_t farewell_ns_max = 200'000'000;

const char* name_of(LossKind kind) {
  switch (kind) {
    case LossKind::exited:
      return "exited";
    case LossKind::hung:
      return "hung";
    case LossKind::unreachable:
      return "unreachable";
    case LossKind::cut_off:
      return "its data link is silent";
  }
  return "unknown";
}

}  // namespace

class Lifeline::Impl final : public Findings {
 public:
  explicit Impl(LifelineOptions options) : options_(std::move(options)) {}

  PeerAddress listen();
  void connect(std::span<const PeerAddress> peers, ViewTree tree, const DeathMarks& death_marks);
  void leave();
  // What another thread wants to be done about `rank` on the lifeline's.
  enum class Request : std::uint8_t { look_at, ask, say_at_work, report_silent };
  struct Asked {
    Request what;
    int rank;
    std::int64_t at_ns;  // when something was seen that made somebody ask
  };
  void request(Request what, int rank);
  std::uint64_t rejected() const { return overlay_ ? overlay_->rejected() : 0; }
  std::uint64_t accusations() const { return overlay_ ? overlay_->accusations() : 0; }

 private:
  void handle_loss(const Loss& loss) override;
  void handle_left(int rank) override;
  void handle_question(int by) override {
    if (options_.on_question) options_.on_question(by);
    tick_soon();
  }
  void handle_at_work(int rank) override {
    if (options_.on_at_work) options_.on_at_work(rank);
    tick_soon();
  }
  void handle_silent_link(int one, int other) override {
    if (options_.on_silent_link) options_.on_silent_link(one, other);
    tick_soon();
  }
  void handle_message(int from, std::span<const std::uint8_t> message) override {
    views_->handle_message(from, message, monotonic_ns());
  }
  void handle_other_version(const std::string& from, int version) override;

  void run();
  void wait_and_handle(std::int64_t until);
  void handle_wake();
  void handle_request(const Asked& asked);
  void handle_time(std::int64_t now);
  void tick(std::int64_t now);
  void tick_soon();
  void say_goodbye();
  void wake() const;
  void tell_losses();
  void obey_views(std::int64_t now);
  void cut_off(const std::string& why);
  void live_on_alone();

  const LifelineOptions options_;
  const pid_t owner_ = getpid();
  Poller poller_;
  Fd wake_;
  Fd listener_;
  StatusPage page_;
  DeathMarks death_marks_;
  protocols::LocalHealth health_;
  std::optional<Roster> roster_;
  std::optional<Siblings> siblings_;
  std::optional<Overlay> overlay_;
  std::optional<Views> views_;
  std::vector<Loss> untold_;  // while this process has no quorum
  std::int64_t next_tick_ = 0;
  std::int64_t last_busy_tick_ = 0;
  std::int64_t next_heartbeat_ = 0;
  bool is_cut_off_ = false;
  std::set<int> other_versions_;  // that were spoken of

  std::thread thread_;
  std::atomic<bool> is_leaving_{false};
  Mutex mutex_;
  std::condition_variable_any connected_changed_;
  std::atomic<bool> is_connected_ = false;  // written under the mutex
  std::vector<Asked> requests_ RESPROUT_GUARDED_BY(mutex_);
};

PeerAddress Lifeline::Impl::listen() {
  listener_ = listen_on(options_.listen_address);
  page_ = StatusPage::create();
  wake_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  PeerAddress address;
  address.host_id = current_host_id();
  address.pid = getpid();
  const auto status = process_status(address.pid);
  if (!status) throw std::system_error(ENOENT, std::generic_category(), "/proc/self/stat");
  address.start_time = status->start_time;
  address.status_fd = page_.fd();
  address.lifeline_port = local_port(listener_);
  options_.listen_address.copy(address.address.data(), address.address.size() - 1);
  return address;
}

void Lifeline::Impl::connect(std::span<const PeerAddress> peers, ViewTree tree,
                             const DeathMarks& death_marks) {
  RESPROUT_INVARIANT(listener_.is_open() && !thread_.joinable());
  const std::int64_t now = monotonic_ns();
  roster_.emplace(options_.rank, static_cast<int>(peers.size()));
  death_marks_ = death_marks;
  siblings_.emplace(options_, health_, *this, poller_, death_marks_, sibling_key);
  overlay_.emplace(options_, health_, *roster_, *this, poller_, link_key);
  views_.emplace(options_, *roster_, *this, *overlay_, std::move(tree));
  siblings_->start(peers, now);
  overlay_->start({peers.begin(), peers.end()}, now);
  poller_.add(wake_, wake_key, EPOLLIN);
  poller_.add(listener_, listener_key, EPOLLIN);
  next_tick_ = last_busy_tick_ = next_heartbeat_ = now;

  // The program's signal handlers are none of our thread's business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);

  MutexLock lock(mutex_);
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::nanoseconds(auth::handshake_deadline_ns);
  while (!is_connected_ &&
         connected_changed_.wait_until(lock, deadline) == std::cv_status::no_timeout) {
  }
}

void Lifeline::Impl::wake() const {
  const std::uint64_t one = 1;
  // A full counter wakes as well.
  if (write(wake_.get(), &one, sizeof one) < 0) return;
}

void Lifeline::Impl::leave() {
  // In a forked child there is no thread, and what there is belongs to the parent.
  if (getpid() != owner_) {
    if (thread_.joinable()) thread_.detach();
    return;
  }
  if (!thread_.joinable()) return;
  page_->goodbye.store(1);
  is_leaving_.store(true);
  wake();
  thread_.join();
  listener_.reset();
}

void Lifeline::Impl::request(Request what, int rank) {
  {
    const MutexLock guard(mutex_);
    requests_.push_back({what, rank, realtime_ns()});
  }
  wake();
}

void Lifeline::Impl::run() {
  pthread_setname_np(pthread_self(), "resprout-life");
  while (!is_leaving_.load()) {
    if (is_cut_off_) return live_on_alone();
    wait_and_handle(std::min(next_tick_, next_heartbeat_));
    handle_time(monotonic_ns());
    if (!is_connected_ && overlay_->is_connected()) {
      {
        const MutexLock guard(mutex_);
        is_connected_ = true;
        connected_changed_.notify_all();
      }
      death_marks_.count(options_.rank);  // the system takes its time: nobody waits for it
    }
  }
  siblings_->look_at_death_marks();  // the program may have heard of a death before its event
  say_goodbye();
}

// For the others it is as if this process had ended: its port refuses connections.
void Lifeline::Impl::live_on_alone() {
  overlay_->close();
  poller_.remove_and_close(listener_);
  while (!is_leaving_.load()) {
    const std::int64_t wait_ns = std::max<std::int64_t>(next_tick_ - monotonic_ns(), 0);
    pollfd woken{wake_.get(), POLLIN, 0};
    poll(&woken, 1, static_cast<int>((wait_ns + 999'999) / 1'000'000));
    std::uint64_t count;
    if (woken.revents != 0 && read(wake_.get(), &count, sizeof count) < 0) continue;
    if (monotonic_ns() >= next_tick_) tick(monotonic_ns());
  }
}

void Lifeline::Impl::wait_and_handle(std::int64_t until) {
  epoll_event events[32];
  const std::int64_t now = monotonic_ns();
  const std::int64_t wait_ms = until <= now ? 0 : (until - now + 999'999) / 1'000'000;
  for (const epoll_event& event : poller_.wait(events, static_cast<int>(wait_ms))) {
    const std::uint64_t key = event.data.u64;
    const auto low = static_cast<std::uint32_t>(key);
    if (key == wake_key) {
      handle_wake();
    } else if (key == listener_key) {
      Fd socket = accept_on(listener_);
      if (socket.is_open()) overlay_->handle_connection(std::move(socket), monotonic_ns());
    } else if (key >= link_key) {
      overlay_->handle_event(low, monotonic_ns());
    } else {
      siblings_->handle_death(static_cast<int>(low));
    }
  }
}

void Lifeline::Impl::handle_wake() {
  std::uint64_t count;
  if (read(wake_.get(), &count, sizeof count) < 0) return;
  std::vector<Asked> requests;
  {
    const MutexLock guard(mutex_);
    requests.swap(requests_);
  }
  for (const Asked& asked : requests)
    if (roster_->contains(asked.rank) && roster_->is_alive(asked.rank)) handle_request(asked);
}

void Lifeline::Impl::handle_request(const Asked& asked) {
  switch (asked.what) {
    case Request::look_at:
      siblings_->look_at(asked.rank, asked.at_ns);
      overlay_->look_at(asked.rank, monotonic_ns());
      break;
    case Request::ask:
      overlay_->ask_whether_at_work(asked.rank);
      break;
    case Request::say_at_work:
      overlay_->say_at_work(asked.rank);
      break;
    case Request::report_silent:
      overlay_->report_silent_link(asked.rank, monotonic_ns());
      break;
  }
}

void Lifeline::Impl::handle_time(std::int64_t now) {
  overlay_->handle_time(now);
  views_->handle_time(now);
  obey_views(now);
  if (is_cut_off_) return;
  if (now >= next_tick_) {
    tick(now);
    now = monotonic_ns();
  }
  if (now < next_heartbeat_) return;
  const std::int64_t starved_ns =
      options_.heeds_local_health
          ? protocols::starved_for(now - next_heartbeat_, options_.heartbeat_period_ns)
          : 0;
  next_heartbeat_ = now + options_.heartbeat_period_ns;
  health_.handle_deadline(starved_ns != 0);
  siblings_->handle_time(now, starved_ns);
  overlay_->handle_heartbeat(now, starved_ns);
}

void Lifeline::Impl::tick(std::int64_t now) {
  page_->heartbeat.fetch_add(1, std::memory_order_relaxed);
  const bool is_busy = options_.on_tick && options_.on_tick();
  const std::int64_t after = monotonic_ns();
  if (is_busy) last_busy_tick_ = after;
  const bool is_idle = now - last_busy_tick_ >= options_.idle_tick_ns;
  next_tick_ = after + (is_idle ? options_.idle_tick_ns : options_.tick_ns);
}

// Something has happened that the program's thread may have to know, or others want an answer.
void Lifeline::Impl::tick_soon() { last_busy_tick_ = next_tick_ = monotonic_ns(); }

void Lifeline::Impl::say_goodbye() {
  views_->handle_goodbye();
  overlay_->spread({.kind = NewsKind::left, .rank = options_.rank});
  const std::int64_t begin = monotonic_ns();
  for (std::int64_t now = begin;
       overlay_->is_needed() && (now < begin + farewell_ns || overlay_->has_unsaid()) &&
       now < begin + farewell_ns_max;
       now = monotonic_ns())
    wait_and_handle(now + 1'000'000);
}

void Lifeline::Impl::handle_loss(const Loss& loss) {
  if (is_cut_off_) return;
  if (loss.rank == options_.rank)
    return cut_off("was declared lost by the others (" + std::string(name_of(loss.kind)) +
                   ", found by rank " + std::to_string(loss.found_by) + ")");
  const std::int64_t now = monotonic_ns();
  const bool is_news = roster_->note(loss.rank, Standing::lost);
  if (roster_->standing(loss.rank) == Standing::lost) views_->handle_loss(loss, now);
  if (!is_news) {
    tell_losses();
    return;
  }
  siblings_->fence(loss.rank);
  siblings_->forget(loss.rank);
  overlay_->spread({.kind = NewsKind::lost,
                    .rank = loss.rank,
                    .by = loss.found_by,
                    .time_ns = loss.detected_ns,
                    .loss_kind = static_cast<std::uint32_t>(loss.kind)});
  overlay_->handle_gone(loss.rank, now + heal_after_loss_ns);
  untold_.push_back(loss);
  tell_losses();
}

// Without a quorum only deaths: what waits for others that may well go on must not go on here.
void Lifeline::Impl::tell_losses() {
  const bool is_isolated = views_->is_isolated();
  for (const Loss& loss : std::exchange(untold_, {}))
    if (is_isolated && !is_proven(loss.kind))
      untold_.push_back(loss);
    else if (options_.on_loss)
      options_.on_loss(loss);
  tick_soon();
}

void Lifeline::Impl::obey_views(std::int64_t now) {
  if (is_cut_off_) return;
  if (!untold_.empty()) tell_losses();
  switch (views_->fate(now)) {
    case Views::Fate::goes_on:
      return;
    case Views::Fate::excluded:
      return cut_off("is not in the view on which the others have agreed");
    case Views::Fate::isolated:
      return cut_off("hears of too few others: those that it cannot reach may go on without it");
  }
}

void Lifeline::Impl::cut_off(const std::string& why) {
  is_cut_off_ = true;
  if (options_.on_cut_off && options_.on_cut_off(why)) return tick_soon();
  std::fprintf(stderr, "resprout: rank %d %s; it must not go on and ends here\n", options_.rank,
               why.c_str());
  _exit(cut_off_exit_status);
}

void Lifeline::Impl::handle_left(int rank) {
  if (is_cut_off_ || rank == options_.rank || !roster_->note(rank, Standing::left)) return;
  views_->handle_goodbye();
  siblings_->forget(rank);
  overlay_->spread({.kind = NewsKind::left, .rank = rank});
  overlay_->handle_gone(rank, monotonic_ns() + heal_after_goodbye_ns);
  if (options_.on_left) options_.on_left(rank);
}

// Once for each version, whatever a stranger says and how often.
void Lifeline::Impl::handle_other_version(const std::string& from, int version) {
  if (!other_versions_.insert(version).second) return;
  std::fprintf(stderr,
               "resprout: rank %d: a process at %s speaks version %d of Resprout's protocol and "
               "this one version %d; its connections are dropped\n",
               options_.rank, from.empty() ? "an unknown address" : from.c_str(), version,
               auth::protocol_version);
}

Lifeline::Lifeline(LifelineOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Lifeline::~Lifeline() { leave(); }
PeerAddress Lifeline::listen() { return impl_->listen(); }
void Lifeline::connect(std::span<const PeerAddress> peers, ViewTree tree,
                       const DeathMarks& death_marks) {
  impl_->connect(peers, std::move(tree), death_marks);
}
void Lifeline::leave() { impl_->leave(); }
void Lifeline::suspect(int rank) { impl_->request(Impl::Request::look_at, rank); }
void Lifeline::ask_whether_at_work(int rank) { impl_->request(Impl::Request::ask, rank); }
void Lifeline::say_at_work(int rank) { impl_->request(Impl::Request::say_at_work, rank); }
void Lifeline::report_silent_link(int rank) { impl_->request(Impl::Request::report_silent, rank); }
std::uint64_t Lifeline::rejected_connections() const { return impl_->rejected(); }
std::uint64_t Lifeline::accusations() const { return impl_->accusations(); }

}  // namespace resprout::runtime

#include "mpi/handles/communicators/lingering.hpp"
#include "runtime/mutex.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace resprout::shim {
namespace detail {
std::atomic<bool> any_lingers{false};
}  // namespace detail

namespace {

struct Freed {
  std::function<bool()> has_requests_left;
  std::function<void()> end;
};

// Never destroyed: the program's exit handlers may still complete requests.
struct Lingering {
  runtime::Mutex mutex;
  std::vector<Freed> all RESPROUT_GUARDED_BY(mutex);
  std::atomic<int> telling{0};
};

Lingering& lingering() {
  static auto* instance = new Lingering;
  return *instance;
}

enum class Which { over, all };

std::vector<Freed> take(Which which) {
  Lingering& l = lingering();
  const runtime::MutexLock lock(l.mutex);
  const auto over = std::stable_partition(l.all.begin(), l.all.end(), [&](const Freed& one) {
    return which == Which::over && one.has_requests_left();
  });
  std::vector<Freed> taken(std::make_move_iterator(over), std::make_move_iterator(l.all.end()));
  l.all.erase(over, l.all.end());
  detail::any_lingers.store(!l.all.empty(), std::memory_order_relaxed);
  return taken;
}

}  // namespace

void linger(std::function<bool()> has_requests_left, std::function<void()> end) {
  Lingering& l = lingering();
  const runtime::MutexLock lock(l.mutex);
  l.all.push_back({std::move(has_requests_left), std::move(end)});
  detail::any_lingers.store(true, std::memory_order_relaxed);
}

void detail::end_lingering() {
  if (lingering().telling.load() != 0) return;
  for (const Freed& one : take(Which::over)) one.end();
}

void end_all_lingering() {
  for (const Freed& one : take(Which::all)) one.end();
}

Telling::Telling() { lingering().telling.fetch_add(1); }
Telling::~Telling() { lingering().telling.fetch_sub(1); }

}  // namespace resprout::shim

#include "mpi/handles/communicators/departures.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/communicators/drain.hpp"
#include "mpi/handles/communicators/natives.hpp"
#include "runtime/started.hpp"
#include "runtime/task.hpp"

namespace resprout::shim {
namespace {

class Goodbye final : public runtime::Task {
 public:
  explicit Goodbye(runtime::Session& session) : started_(session) {}

  bool advance() override {
    if (!has_begun_) started_.barrier();
    has_begun_ = true;
    is_over_ = started_.advance(nullptr);
    return is_over_;
  }
  bool is_for_program() const override { return false; }
  bool is_over() const { return is_over_; }

 private:
  runtime::Started started_;
  bool has_begun_ = false;
  bool is_over_ = false;
};

class Departure {
 public:
  // `communicator`: null if it is of none.
  Departure(runtime::Session& session, std::shared_ptr<Goodbye> goodbye,
            std::unique_ptr<Communicator> communicator)
      : session_(&session), goodbye_(std::move(goodbye)), communicator_(std::move(communicator)) {}

  bool is_derived() const { return communicator_ && communicator_->derived; }
  // All have said goodbye, and nothing here asks for the communicator any more.
  bool is_over() const {
    return goodbye_->is_over() && !(communicator_ && communicator_->is_lingering);
  }
  // Goes on with what is to be done then, without the lock. True: that is done.
  bool advance() {
    if (!is_derived() || communicator_->is_broken || session_->is_whole() || session_->is_revoked())
      return true;
    if (!drain_) drain_.emplace(communicator_->derived->carrier, *session_);
    is_drained_ = drain_->advance();
    return is_drained_.has_value();
  }
  // With the lock. REQUIRES: all of that is done.
  void close(runtime::Engine& engine, runtime::Lock& lock) {
    const bool is_clean = !session_->is_revoked() && session_->is_whole();
    if (communicator_ && communicator_->native != MPI_COMM_NULL)
      leave_native(communicator_->native, is_clean);
    if (communicator_) leave_neighbors(*communicator_, is_clean);
    if (is_derived()) give_back(is_clean);
    engine.close_session(lock, *session_);
  }

 private:
  void give_back(bool is_clean) {
    const int pool_index = communicator_->derived->pool_index;
    if (is_drained_) note_drained(pool_index, *is_drained_);
    leave_carrier(pool_index, communicator_->world_ranks,
                  communicator_->is_broken              ? Leaving::broken
                  : is_clean || is_drained_.has_value() ? Leaving::clean
                                                        : Leaving::unclean);
  }

  runtime::Session* session_;
  std::shared_ptr<Goodbye> goodbye_;
  std::unique_ptr<Communicator> communicator_;
  std::optional<Drain> drain_;
  std::optional<bool> is_drained_;
};

// Never destroyed: what is left at the end of the process needs nobody any more.
std::vector<Departure>& departures() {
  static auto* instance = new std::vector<Departure>;
  return *instance;
}

void say_goodbye(runtime::Session& session, std::unique_ptr<Communicator> communicator) {
  const auto goodbye = std::make_shared<Goodbye>(session);
  departures().emplace_back(session, goodbye, std::move(communicator));
  session.enqueue(goodbye);
}

}  // namespace

void depart(std::unique_ptr<Communicator> communicator) {
  runtime::Session& session = *communicator->session;
  say_goodbye(session, std::move(communicator));
}

void depart(runtime::Session& session) { say_goodbye(session, nullptr); }

bool is_any_carrier_departing() {
  return std::ranges::any_of(departures(), [](const Departure& one) { return one.is_derived(); });
}

// Those that are looked at without the lock are in the list no more.
void finish_departures(runtime::Engine& engine, runtime::Lock& lock) {
  std::vector<Departure> over;
  std::erase_if(departures(), [&](Departure& one) {
    if (!one.is_over()) return false;
    over.push_back(std::move(one));
    return true;
  });
  if (over.empty()) return;
  lock.unlock();
  std::vector<bool> is_done;
  for (Departure& one : over) is_done.push_back(one.advance());
  lock.lock();
  for (std::size_t i = 0; i < over.size(); ++i) {
    if (is_done[i])
      over[i].close(engine, lock);
    else
      departures().push_back(std::move(over[i]));
  }
}

}  // namespace resprout::shim

// One process's way through a story (story.hpp).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/collectives.hpp"
#include "runtime/testing/story_library.hpp"
#include "runtime/testing/story_steps.hpp"

namespace resprout::runtime::testing {

class Player {
 public:
  // What it gets of each step goes to `gots`, libraries are by communicator.
  Player(const Story& story, FiberJob& job, int self, std::vector<Library>& libraries,
         std::vector<Got>& gots)
      : story_(story),
        job_(job),
        engine_(job.engine(self)),
        libraries_(libraries),
        gots_(gots),
        sessions_(story.communicators.size()),
        opened_(story.communicators.size()),
        has_revoked_(story.communicators.size()),
        last_(story.communicators.size()) {}

  void play() {
    Lock lock = engine_.lock();
    for (std::size_t step = 0; step < story_.steps(); ++step) {
      close_before(lock, step);
      open_before(lock, step);
      doom_before(step);
      revoke_before(step);
      if (Session* session = sessions_[story_.places[step]]) take(lock, *session, step);
    }
    close_before(lock, story_.steps());
    doom_before(story_.steps());
    revoke_before(story_.steps());
    for (Session* session : sessions_)
      if (session != nullptr) session->finish_tasks(lock);
  }

  // Of this communicator, also after it was closed; null: it had no part in it so far.
  const Session* session_of(std::size_t communicator) const { return opened_[communicator]; }
  // What is kept of it for others, where machines carry it.
  struct KeptThere {
    int operations = 0;
    std::size_t bytes = 0;  // of results
  };
  KeptThere kept_of(std::size_t communicator) const {
    KeptThere kept;
    for (std::uint64_t number = 0; number < 2 * story_.steps() && opened_[communicator]; ++number) {
      const Operation* operation = opened_[communicator]->find(number);
      if (operation == nullptr) continue;
      ++kept.operations;
      if (operation->state() == Operation::State::delivered && operation->result())
        kept.bytes += operation->result()->size();
    }
    return kept;
  }
  // The last step that it took of this communicator.
  std::optional<std::size_t> last_in(std::size_t communicator) const { return last_[communicator]; }
  bool has_revoked(std::size_t communicator) const { return has_revoked_[communicator]; }

 private:
  void open_before(Lock& lock, std::size_t step) {
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      const Communicator& communicator = story_.communicators[i];
      if (communicator.opens_before == step && communicator.has(engine_.self()))
        opened_[i] = sessions_[i] = &engine_.open_session(lock, communicator.ranks);
    }
  }
  void close_before(Lock& lock, std::size_t step) {
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      Session*& session = sessions_[i];
      if (story_.communicators[i].closes_before != step || session == nullptr) continue;
      session->finish_tasks(lock);
      barrier(*session, lock);
      engine_.close_session(lock, *session);
      session = nullptr;
    }
  }

  void doom_before(std::size_t step) {
    for (const Doom& doom : story_.dooms)
      if (doom.before == step && doom.rank == engine_.self()) job_.hasten(doom.rank, doom.sends);
  }
  void revoke_before(std::size_t step) {
    for (const Revocation& revocation : story_.revocations) {
      if (revocation.before != step || revocation.rank != engine_.self()) continue;
      has_revoked_[revocation.communicator] = true;
      sessions_[revocation.communicator]->revoke();
    }
  }

  void take(Lock& lock, Session& session, std::size_t step) {
    Got& got = gots_[step];
    std::optional<std::size_t>& last = last_[story_.places[step]];
    got.is_otherwise = last &&
                       story_.what(*last, gots_[*last].is_otherwise).is_broadcast_awaited() &&
                       gots_[*last].ranks == 0;
    last = step;
    const Step& what = story_.what(step, got.is_otherwise);
    if (what.is_started)
      return session.enqueue(std::make_shared<StartedStep>(session, what, step, got));
    session.finish_tasks(lock);
    got.is_begun_revoked = session.is_revoked();
    if (!what.is_native() || !runs_natively(lock, session, what, step, got))
      run_by_messages(lock, session, what, step, got);
    got.end(session);
    if (what.kind == Kind::barrier) got.ranks = got.contributors;
  }

  bool runs_natively(Lock& lock, Session& session, const Step& what, std::size_t step, Got& got) {
    if (!session.may_go_natively()) return false;
    LibraryCall call(job_.scheduler(), engine_, session, libraries_[story_.places[step]], what,
                     step);
    if (!session.run_natively(lock, call).is_delivered) return false;
    if (what.is_scan())
      got.take_sums(session, what, step, call.row());
    else if (!what.has_row())
      got.take(what, step, call.payload());
    else if (!what.is_gather() || self_of(session) == what.root)
      got.take_row(session, what, step, call.row());
    return true;
  }

  const Story& story_;
  FiberJob& job_;
  Engine& engine_;
  std::vector<Library>& libraries_;
  std::vector<Got>& gots_;
  std::vector<Session*> sessions_;  // by communicator; null: it has no part in it now
  std::vector<Session*> opened_;    // by communicator: also those that it has closed
  std::vector<bool> has_revoked_;
  std::vector<std::optional<std::size_t>> last_;  // the last step in each
};

}  // namespace resprout::runtime::testing

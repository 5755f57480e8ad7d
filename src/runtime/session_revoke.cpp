// Sessions that were revoked (Plan B, section 3): docs/explanation/protocols/revoke.md.
//
// The notice spreads over the binomial graph of the communicator, each process passing it on once,
// but not to those of whom it has it. Whoever is the first on a host to have it says so on the
// host's board (notice_board.hpp), in one instruction: then all on the host are told, and it is
// passed on to other hosts only. Who has it says nothing more in this session and believes no
// frame of it: what runs here has failed. So nobody who does not know yet can get a result that was
// made without the others.
#include <algorithm>

#include "runtime/session.hpp"

namespace resprout::runtime {

void Session::revoke() {
  const Context context = revocation_context();
  revocation_.revoke(context);
  flush_revocation();
  fall_silent(context);
}

void Session::cut_off() {
  if (is_revoked()) return;
  const Context context = revocation_context();
  revocation_.revoke(context);
  fall_silent(context);
}

void Session::handle_notice(int peer, const Message& message) {
  if (everybody_->index_of_world_rank(peer) != message.from) return;
  told_by_.push_back(message.from);
  if (is_revoked()) return;
  const Context context = revocation_context();
  revocation_.handle_message(context, message);
  fall_silent(context);
  progress_.agenda().flush_later(*this, revocation_number);  // when all that has arrived is read
}

void Session::handle_notice_of_host() {
  is_host_told_ = true;
  if (is_revoked()) return;
  const Context context = revocation_context();
  revocation_.revoke(context);
  fall_silent(context);
  flush_revocation();
}

void Session::bind(Session& other) {
  bound_.push_back(&other);
  if (is_revoked()) other.follow_revocation();
}

// Perhaps from a transport that delivers, so that nothing can be sent yet.
void Session::follow_revocation() {
  if (is_revoked()) return;
  const Context context = revocation_context();
  revocation_.revoke(context);
  fall_silent(context);
  progress_.agenda().flush_later(*this, revocation_number);
}

// What its members got no longer matters to any of them, so nothing is made of what is called now.
Outcome Session::give_up() {
  note_that_nobody_contributed();
  return {};
}

Context Session::revocation_context() {
  lost_to_revocation_ = progress_.losses().among(*everybody_);
  return {progress_.now(),
          {lost_to_revocation_.data(), static_cast<std::uint32_t>(lost_to_revocation_.size())},
          {}};
}

bool Session::is_told(Rank rank) const {
  return (is_host_told_ &&
          progress_.transport().shares_memory_with(everybody_->world_rank(rank))) ||
         std::find(told_by_.begin(), told_by_.end(), rank) != told_by_.end();
}

void Session::flush_revocation() {
  if (!is_host_told_) is_host_told_ = progress_.notices().post_revocation(id_);
  if (is_host_told_ && is_on_one_host_) return;
  const Context context = revocation_context();
  for (;;) {
    if (!unsent_notice_) unsent_notice_ = revocation_.poll_send(context);
    if (!unsent_notice_) return;
    if (is_told(unsent_notice_->to)) {
      unsent_notice_.reset();
      continue;
    }
    Transfer nothing;
    if (!progress_.transport().try_send(everybody_->world_rank(unsent_notice_->to),
                                        {id_, revocation_number, *unsent_notice_}, {}, {}, nothing))
      return progress_.agenda().flush_later(*this, revocation_number);
    if (!is_host_told_) progress_.notices().bell().ring();
    unsent_notice_.reset();
  }
}

// What was said before may still lie in the memory of this process, for others to read: of that
// nothing is forgotten.
void Session::fall_silent(const Context& context) {
  if (is_revoked_.load() || !revocation_.poll_event(context)) return;
  is_revoked_.store(true);
  revoked_at_ = next_;
  early_.clear();
  for (Kept& kept : operations_)
    if (kept.operation) kept.operation->abandon();
  progress_.tell_of_revocation(*this);
  for (Session* other : bound_) other->follow_revocation();
  if (is_closed_) progress_.bid_farewell(*this);
}

void Session::give_back_memory() {
  for (std::vector<Kept>* all : {&operations_, &buried_}) {
    for (Kept& kept : *all)
      if (kept.operation && kept.operation->is_being_sent())
        progress_.agenda().linger(std::move(kept.operation));
    all->clear();
  }
  log_.release();
}

}  // namespace resprout::runtime

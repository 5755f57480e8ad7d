#include "runtime/revocation.hpp"

#include <algorithm>
#include <utility>

namespace resprout::runtime {

Revocation::Revocation(Progress& progress, std::uint64_t session,
                       std::shared_ptr<const Members> everybody, bool is_on_one_host)
    : progress_(progress),
      session_(session),
      everybody_(std::move(everybody)),
      is_on_one_host_(is_on_one_host),
      machine_({everybody_->size()}, everybody_->self()) {
  machine_.start(context());
}

Context Revocation::context() {
  lost_ = progress_.losses().among(*everybody_);
  return {progress_.now(), {lost_.data(), static_cast<std::uint32_t>(lost_.size())}, {}};
}

bool Revocation::note_event(const Context& context) {
  if (is_known() || !machine_.poll_event(context)) return false;
  is_known_.store(true);
  return true;
}

bool Revocation::begin() {
  if (is_known()) return false;
  const Context now = context();
  machine_.revoke(now);
  return note_event(now);
}

bool Revocation::handle_notice(int peer, const Message& notice) {
  if (everybody_->index_of_world_rank(peer) != notice.from) return false;
  told_by_.push_back(notice.from);
  if (is_known()) return false;
  const Context now = context();
  machine_.handle_message(now, notice);
  return note_event(now);
}

bool Revocation::handle_notice_of_host() {
  is_host_told_ = true;
  return begin();
}

void Revocation::handle_loss(int world_rank) {
  machine_.handle_suspicion(context(), everybody_->index_of_world_rank(world_rank));
}

bool Revocation::is_told(Rank rank) const {
  const int world_rank = everybody_->world_rank(rank);
  return (is_host_told_ && progress_.transport().shares_memory_with(world_rank)) ||
         std::find(told_by_.begin(), told_by_.end(), rank) != told_by_.end();
}

bool Revocation::flush() {
  if (!is_host_told_) is_host_told_ = progress_.notices().post_revocation(session_);
  if (is_host_told_ && is_on_one_host_) return true;
  const Context now = context();
  for (;;) {
    if (!unsent_notice_) unsent_notice_ = machine_.poll_send(now);
    if (!unsent_notice_) return true;
    if (!is_told(unsent_notice_->to)) {
      Transfer nothing;
      const FrameHeader header{session_, revocation_number, *unsent_notice_};
      if (!progress_.transport().try_send(everybody_->world_rank(unsent_notice_->to), header, {},
                                          {}, nothing))
        return false;
      if (!is_host_told_) progress_.notices().bell().ring();
    }
    unsent_notice_.reset();
  }
}

}  // namespace resprout::runtime

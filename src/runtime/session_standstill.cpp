// Members that wait for each other because the program is wrong.
//
// Who carries an operation is decided by what each member says of it, as all say the same. If a
// program says different things, one waits over shared slots, say, for a word of somebody who is in
// a call of the library below. Neither has a message from the other. So who has waited for long
// asks those for whom it waits, and who is past it answers:
//
// - over shared slots: that member has begun the operation that would be the next one here, or is
//   through with it, and so with all that shared slots had to carry before;
// - in an operation of ours: the library below carries it there, or has done so.
//
// Neither is possible in a right program, with or without losses: what members write into shared
// slots they write before the next operation, and they agree on whether the library may carry
// anything. The asker revokes the session, so that nobody waits in it any more.
//
// A gather or a scan that the library below was to carry, and that is done once more, is another
// matter: who is asked about it gives once more what it has given.
#include <cstdint>

#include "runtime/session.hpp"

namespace resprout::runtime {
namespace {

// A bit of a message's tag.
constexpr std::uint16_t about_shared_slots = 1;
// Another one: what the library below was to carry is done once more.
constexpr std::uint16_t about_what_was_given = 2;

constexpr std::uint32_t round_of(std::uint64_t number) {
  return static_cast<std::uint32_t>(number);
}

// How far `next` is ahead of the number that is meant by `round`.
constexpr std::int64_t distance(std::uint64_t next, std::uint32_t round) {
  return static_cast<std::int32_t>(round_of(next) - round);
}

}  // namespace

void Standstill::ask_awaited() {
  const Session& session = session_;
  if (session.is_revoked()) return;
  const auto ask = [&](int world_rank, std::uint64_t number, std::uint16_t about) {
    Message question;
    question.kind = MessageKind::keepalive;
    question.round = round_of(number);
    question.tag = about;
    say(world_rank, question);
  };
  // The rendezvous at the end of what the library carries belongs to that.
  const bool is_below = session.is_below_.load(std::memory_order_relaxed);
  if (awaited_over_shared_slots_ != no_member && !is_below)
    ask(awaited_over_shared_slots_, session.log_.next(), about_shared_slots);
  session.log_.for_each([&](std::uint64_t number, const OperationRecord& record) {
    const bool is_ours = record.carrier != OperationRecord::Carrier::native;
    if (record.operation && (is_ours || record.is_given_again()) &&
        record.operation->state() == Operation::State::running)
      record.operation->for_each_awaited(session.progress_.now(), [&](int rank) {
        ask(rank, number, is_ours ? 0 : about_what_was_given);
      });
    else if (record.is_direct() && !session.is_over(record) &&
             session.members_->self() != record.root)
      ask(session.members_->world_rank(record.root), number, 0);
  });
}

void Standstill::handle_frame(int peer, const Message& message) {
  if (session_.everybody_->index_of_world_rank(peer) != message.from) return;
  const bool is_about_shared_slots = (message.tag & about_shared_slots) != 0;
  if (message.kind == MessageKind::acknowledgment)
    return handle_answer(peer, message.round, is_about_shared_slots);
  if (message.kind != MessageKind::keepalive) return;
  if ((message.tag & about_what_was_given) != 0) return give_once_more(message.round);
  if (!is_past(message.round, is_about_shared_slots)) return;
  Message answer;
  answer.kind = MessageKind::acknowledgment;
  answer.round = message.round;
  answer.tag = message.tag;
  say(peer, answer);
}

// To this process it ended well, and it knows of no loss.
void Standstill::give_once_more(std::uint32_t round) {
  const std::int64_t ahead = distance(session_.log_.next(), round);
  if (ahead <= 0) return;
  const std::uint64_t number = session_.log_.next() - static_cast<std::uint64_t>(ahead);
  const OperationRecord* record = session_.log_.find(number);
  if (record != nullptr && record->is_native() && record->is_given_again())
    session_.progress_.agenda().settle_later(session_, number, true);
}

bool Standstill::is_past(std::uint32_t round, bool is_about_shared_slots) const {
  const std::int64_t ahead = distance(session_.log_.next(), round);
  if (ahead < 0) return false;
  if (ahead == 0) return session_.is_below_.load(std::memory_order_relaxed);
  if (is_about_shared_slots) return true;
  const OperationRecord* record =
      session_.log_.find(session_.log_.next() - static_cast<std::uint64_t>(ahead));
  return record == nullptr  // it is forgotten: something that the asker had no part in
         || record->is_native();
}

void Standstill::handle_answer(int peer, std::uint32_t round, bool is_about_shared_slots) {
  const std::int64_t ahead = distance(session_.log_.next(), round);
  if (session_.progress_.losses().is_lost(peer)) return;
  if (is_about_shared_slots) {
    if (ahead == 0) past_[peer] = session_.log_.next();
    return;
  }
  if (ahead <= 0) return;
  const OperationRecord* record =
      session_.log_.find(session_.log_.next() - static_cast<std::uint64_t>(ahead));
  if (record == nullptr || record->carrier == OperationRecord::Carrier::native) return;
  const bool is_running = record->operation
                              ? record->operation->state() == Operation::State::running
                              : record->is_direct() && !session_.is_over(*record);
  if (!is_running) return;
  has_mistake_ = true;
  session_.follow_revocation();
}

bool Standstill::has_passed(int world_rank) const {
  const auto at = past_.find(world_rank);
  return at != past_.end() && at->second == session_.log_.next();
}

void Standstill::revoke_if_passed() {
  for (const auto& [world_rank, number] : past_)
    if (number == session_.log_.next()) has_mistake_ = true;
  if (has_mistake_) session_.revoke();
}

// Perhaps from a transport that delivers, so that nothing can be sent yet.
void Standstill::say(int world_rank, Message message) {
  message.from = session_.everybody_->self();
  message.to = session_.everybody_->index_of_world_rank(world_rank);
  unsaid_.emplace_back(world_rank, message);
  session_.progress_.agenda().flush_later(session_, standstill_number);
}

void Standstill::flush() {
  while (!unsaid_.empty() && !session_.is_revoked()) {
    const auto& [world_rank, message] = unsaid_.back();
    Transfer nothing;
    Progress& progress = session_.progress_;
    if (!progress.losses().is_lost(world_rank) &&
        !progress.transport().try_send(world_rank, {session_.id_, standstill_number, message}, {},
                                       {}, nothing))
      return progress.agenda().flush_later(session_, standstill_number);
    unsaid_.pop_back();
  }
  unsaid_.clear();
}

}  // namespace resprout::runtime

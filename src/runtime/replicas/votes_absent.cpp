// What a plane does not have: invariant 5 of votes.hpp; and what proves nothing.
#include "core/invariant.hpp"
#include "runtime/replicas/votes.hpp"

namespace resprout::runtime {

using protocols::VoteKind;

// --- who has ended
// --------------------------------------------------------------------------------

void Votes::say(Replica to, VoteFrame::Kind kind, const MessageName& name) {
  VoteFrame frame{.name = name};
  frame.kind = kind;
  if (!is_lost(to)) network_.send(to, frame, {});
}

void Votes::end() {
  has_ended_ = true;
  for (const Replica to : curious_) say(to, VoteFrame::Kind::all_sent);
  curious_.clear();
  for (auto& [stream, flow] : flows_)
    for (auto& [number, frames] : flow.early)
      std::erase_if(frames, [&](const Early& it) { return maybe_say_absent(it.from, it.frame); });
}

// True: it is a question. REQUIRES: this process has no such message.
bool Votes::maybe_say_absent(Replica from, const VoteFrame& question) {
  const VoteKind kind = question.message.kind;
  if (kind != VoteKind::inquiry && kind != VoteKind::pull) return false;
  say(from, VoteFrame::Kind::absent, question.name);
  return true;
}

// --- who waits
// ------------------------------------------------------------------------------------

void Votes::ask_who_is_late() {
  for (auto& [stream, flow] : flows_) {
    if (!is_receiver(stream)) continue;
    for (std::int32_t plane = 0; plane < config().degree; ++plane) {
      const Replica sender{plane, stream.sender};
      const bool may_owe = plane != setup_.self.plane && !is_lost(sender);
      if (!may_owe || asked_.contains(sender) || !owes_any(sender, stream, flow)) continue;
      asked_.insert(sender);
      say(sender, VoteFrame::Kind::ask_end);
    }
  }
}

bool Votes::owes_any(Replica sender, const Stream& stream, Flow& flow) const {
  bool owes = false;
  flow.plain.for_each([&](std::uint64_t, const Plain& plain) {
    const std::uint32_t due = owed(stream) & ~plain.heard;
    owes = owes || (plain.has_own && !plain.is_over && (due >> sender.plane & 1) != 0);
  });
  for (const auto& [number, received] : flow.received) {
    const Suspected suspects = suspected(stream, received.absent);
    const Context context{.suspects = {suspects.ranks.data(), suspects.count}};
    owes = owes || received.machine.awaits_share_of(context, sender.plane);
  }
  return owes;
}

void Votes::take_end(Replica sender) {
  if (ended_.contains(sender)) return;
  for (auto& [stream, flow] : flows_) end_plain(stream, flow);
  ended_.insert(sender);
  for (auto& [stream, flow] : flows_) {
    for (auto& [number, received] : flow.received)
      give_up_if_due({stream, number}, received, sender);
    note_own_progress(stream, flow);
  }
}

void Votes::give_up_if_due(const MessageName& name, Received& received, Replica sender) {
  if (name.stream.sender != sender.rank || is_lost(sender)) return;
  const Suspected suspects = suspected(name.stream, received.absent);
  const Context context{.suspects = {suspects.ranks.data(), suspects.count}};
  if (received.machine.awaits_share_of(context, sender.plane))
    give_up(name, received, sender.plane);
}

void Votes::take_absence(const MessageName& name, Replica from) {
  const auto flow = flows_.find(name.stream);
  if (flow == flows_.end() || from.plane == setup_.self.plane) return;
  const auto at = flow->second.received.find(name.number);
  if (at == flow->second.received.end()) return;
  give_up(name, at->second, from.plane);
  note_own_progress(name.stream, flow->second);
}

void Votes::give_up(const MessageName& name, Received& received, std::int32_t plane) {
  if (received.machine.is_over() || (received.absent >> plane & 1) != 0) return;
  also_said_.absent(name, plane);
  go_on_without(name, received, plane);
}

void Votes::go_on_without(const MessageName& name, Received& received, std::int32_t plane) {
  received.absent |= static_cast<std::uint8_t>(1U << plane);
  const Suspected suspects = suspected(name.stream, received.absent);
  received.machine.handle_suspicion({.suspects = {suspects.ranks.data(), suspects.count}});
  drain(name, received);
}

void Votes::abstain(const MessageName& name) {
  RESPROUT_INVARIANT(is_receiver(name.stream));
  Flow& flow = flow_of(name.stream);
  flow.abstained.insert(name.number);
  for (std::int32_t plane = 0; is_sender(name.stream) && plane < config().degree; ++plane)
    if (plane != setup_.self.plane) say({plane, setup_.self.rank}, VoteFrame::Kind::abstain, name);
  hand_in_early(flow, name.number);
  note_own_progress(name.stream, flow);
}

void Votes::take_abstention(Flow& flow, const Arrived& arrived) {
  const MessageName& name = arrived.frame.name;
  if (name.number < flow.forgotten || flow.abstained.contains(name.number)) return;
  const auto at = flow.received.find(name.number);
  if (at == flow.received.end()) {
    flow.early[name.number].push_back({arrived.from, arrived.frame, {}});
  } else if (!at->second.machine.is_over()) {
    go_on_without(name, at->second, arrived.from.plane);
  }
}

}  // namespace resprout::runtime

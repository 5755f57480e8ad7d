#include "runtime/replicas/votes.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "core/invariant.hpp"

namespace resprout::runtime {
namespace {

using protocols::VoteEventKind;
using protocols::VoteKind;
using protocols::VoteMessage;

// Messages, before the others hear that they are over: of a stream; and of all streams together.
constexpr std::uint64_t untold_max = 256;
constexpr std::uint64_t untold_of_all_max = 1024;
// Likewise: bytes of copies that are kept for them here.
constexpr std::uint64_t untold_bytes_max = 64 << 10;

// The origin of a copy; -1: it is of none, or of several.
std::int32_t origin_of(const VoteMessage& message) {
  for (std::int32_t origin = 0; origin < protocols::degree_max; ++origin)
    if (message.origins == 1U << origin) return origin;
  return -1;
}

}  // namespace

Votes::Votes(const Setup& setup, VoteNetwork& network, OnVote on_vote, AlsoSaid also_said)
    : setup_(setup),
      comparison_{setup.config.is_lazy() && !setup.stands_in()
                      ? protocols::VoteMethod::async_hash
                      : protocols::VoteMethod::msg_plus_hash,
                  setup.config.degree, setup.config.unproven},
      careful_{setup.config.sends_digests() ? protocols::VoteMethod::msg_plus_hash
                                            : protocols::VoteMethod::all_to_all,
               setup.config.degree, setup.config.unproven},
      network_(network),
      on_vote_(std::move(on_vote)),
      also_said_(std::move(also_said)) {}

Replica Votes::replica(const Stream& stream, Rank rank) const {
  return {config().replica(rank), config().is_sender(rank) ? stream.sender : stream.receiver};
}

Votes::Suspected Votes::suspected(const Stream& stream, std::uint32_t absent) const {
  Suspected suspected;
  if ((lost_planes_ | absent) == 0 && lost_.empty()) return suspected;
  for (std::int32_t i = 0; i < config().procs(); ++i) {
    const Replica process = replica(stream, rank_at(i));
    if ((absent >> process.plane & 1) != 0 || is_lost(process))
      suspected.ranks[suspected.count++] = rank_at(i);
  }
  return suspected;
}

bool Votes::is_whole(const Stream& stream) const {
  if (lost_planes_ != 0) return false;
  return std::ranges::none_of(lost_, [&](Replica lost) {
    return lost.rank == stream.sender || lost.rank == stream.receiver;
  });
}

Votes::Flow& Votes::flow_of(const Stream& stream) {
  const auto [at, is_new] = flows_.try_emplace(stream);
  if (is_new) watch(stream);
  return at->second;
}

// Whose death this process has to hear of has a connection from here, which breaks. To its siblings
// it has one.
void Votes::watch(const Stream& stream) {
  const bool is_due = setup_.stands_in() && is_receiver(stream) && !is_sender(stream);
  if (!is_due || !watched_.insert(stream.sender).second) return;
  VoteFrame frame{.name = {stream, 1}};
  frame.kind = VoteFrame::Kind::over;
  for (std::int32_t plane = 0; plane < config().degree; ++plane)
    if (const Replica sender{plane, stream.sender}; plane != setup_.self.plane && !is_lost(sender))
      network_.send(sender, frame, {});
}

// --- this process
// ---------------------------------------------------------------------------------

void Votes::send(const MessageName& name, std::uint64_t digest, std::span<const std::byte> bytes) {
  Sent made{.machine = {config_of(name.stream), config().sender(setup_.self.plane), digest}};
  made.has_bytes = keeps(name.stream);
  if (made.has_bytes) {
    made.bytes.assign(bytes.begin(), bytes.end());
    keep(bytes.size());
  }
  const bool has_copy = made.has_bytes || !config_of(name.stream).sends_digests();
  const bool keeps_bytes = made.has_bytes;
  start(name, std::move(made), has_copy ? Copy(bytes) : std::nullopt, keeps_bytes);
}

void Votes::send(const MessageName& name, std::uint64_t digest) {
  RESPROUT_INVARIANT(name.stream.of != Stream::Of::messages);
  start(name, {.machine = {config_of(name.stream), config().sender(setup_.self.plane), digest}},
        std::nullopt, false);
}

void Votes::start(const MessageName& name, Sent made, const Copy& copy, bool keeps) {
  RESPROUT_INVARIANT(is_sender(name.stream));
  Flow& flow = flow_of(name.stream);
  made.machine.start();
  drain(name, made, copy);
  SentDigest* digest = keeps ? nullptr : flow.digests.make(name.number);
  if (digest != nullptr) {
    RESPROUT_INVARIANT(!digest->is_sent);
    *digest = {made.machine.digest(), true};
  }
  if (digest == nullptr) {
    const bool is_new = flow.sent.emplace(name.number, std::move(made)).second;
    RESPROUT_INVARIANT(is_new);
  }
  hand_in_early(flow, name.number);
  forget(name.stream, flow);
}

void Votes::receive(const MessageName& name, DigestOf digest_of, std::optional<std::uint64_t> own) {
  RESPROUT_INVARIANT(is_receiver(name.stream));
  Flow& flow = flow_of(name.stream);
  Received made{.machine = {config_of(name.stream), config().receiver(setup_.self.plane)},
                .digest_of = std::move(digest_of)};
  const auto [at, is_new] = flow.received.emplace(name.number, std::move(made));
  RESPROUT_INVARIANT(is_new);
  load_max_.open = std::max(load_max_.open, ++open_);
  ++unconfirmed_;
  ++unsettled_;
  const Suspected suspects = suspected(name.stream);
  const Context context{.suspects = {suspects.ranks.data(), suspects.count}};
  at->second.machine.start(context);
  drain(name, at->second);
  if (own) {
    at->second.machine.handle_message(context, own_copy_of(*own));
    drain(name, at->second);
  }
  if (Plain* plain = flow.plain.find(name.number); plain != nullptr && plain->heard != 0) {
    RESPROUT_INVARIANT(!plain->has_own);
    const VoteMessage share = share_of(name.stream, std::countr_zero(plain->heard), plain->share);
    *plain = {};
    take(name, at->second, share, {});
  }
  hand_in_early(flow, name.number);
  for (const Replica sender : ended_) give_up_if_due(name, at->second, sender);
  note_own_progress(name.stream, flow);
}

void Votes::take_own_copy(const MessageName& name, std::uint64_t digest) {
  Flow& flow = flows_[name.stream];
  const auto at = flow.received.find(name.number);
  RESPROUT_INVARIANT(at != flow.received.end());
  const Suspected suspects = suspected(name.stream, at->second.absent);
  at->second.machine.handle_message({.suspects = {suspects.ranks.data(), suspects.count}},
                                    own_copy_of(digest));
  drain(name, at->second);
  note_own_progress(name.stream, flow);
}

// --- the others
// -----------------------------------------------------------------------------------

void Votes::handle(Replica from, const VoteFrame& frame, std::span<const std::byte> bytes) {
  const Stream& stream = frame.name.stream;
  if (from.plane < 0 || from.plane >= config().degree || is_lost(from)) return;
  if (frame.kind == VoteFrame::Kind::plane_over) return finish_plane(from.plane);
  if (frame.kind == VoteFrame::Kind::all_sent) return take_end(from);
  if (frame.kind == VoteFrame::Kind::ask_end) {
    if (has_ended_) return say(from, VoteFrame::Kind::all_sent);
    return curious_.push_back(from);
  }
  if (!is_sender(stream) && !is_receiver(stream)) return;
  if (frame.kind == VoteFrame::Kind::absent) return take_absence(frame.name, from);
  if (frame.kind == VoteFrame::Kind::over) {
    const bool is_from_receiver = from.rank == stream.receiver && from != setup_.self;
    if (!is_from_receiver) return;
    Flow& flow = flows_[stream];
    std::uint64_t& over = flow.over[static_cast<std::size_t>(from.plane)];
    over = std::max(over, frame.name.number);
    forget(stream, flow);
    return;
  }
  if (frame.kind == VoteFrame::Kind::abstain) {
    const bool is_from_sibling = is_sender(stream) && is_receiver(stream) &&
                                 from.rank == setup_.self.rank && from != setup_.self;
    if (!is_from_sibling) return;
    Flow& flow = flow_of(stream);
    take_abstention(flow, {from, frame, bytes});
    note_own_progress(stream, flow);
    return;
  }
  if (replica(stream, frame.message.from) != from) return;
  if (replica(stream, frame.message.to) != setup_.self) return;
  Flow& flow = flow_of(stream);
  take_vote(flow, {from, frame, bytes});
  note_own_progress(stream, flow);
}

void Votes::take_vote(Flow& flow, const Arrived& arrived) {
  const std::uint64_t number = arrived.frame.name.number;
  if (number < flow.forgotten) return;
  const VoteMessage& message = arrived.frame.message;
  if (config().is_sender(message.to)) {
    const auto at = flow.sent.find(number);
    if (at != flow.sent.end()) return answer(arrived.frame.name, at->second, message);
    const SentDigest* digest = flow.digests.find(number);
    if (digest != nullptr && digest->is_sent) {
      Sent made{.machine = {config_of(arrived.frame.name.stream),
                            config().sender(setup_.self.plane), digest->digest},
                .is_native_due = false};
      return answer(arrived.frame.name, made, message);
    }
  } else if (!maybe_take_plain(flow, arrived)) {
    const auto at = flow.received.find(number);
    if (at != flow.received.end())
      return take(arrived.frame.name, at->second, message, arrived.bytes);
    const bool is_inquiry = message.kind == VoteKind::inquiry;
    const bool knows_nothing = flow.abstained.contains(number)
                                   ? is_inquiry || message.kind == VoteKind::pull
                                   : is_inquiry && setup_.stands_in();
    if (knows_nothing) return say_that_nothing_is_known(arrived);
  } else {
    return;
  }
  if (has_ended_ && maybe_say_absent(arrived.from, arrived.frame)) return;
  flow.early[number].push_back(
      {arrived.from, arrived.frame, {arrived.bytes.begin(), arrived.bytes.end()}});
  keep(arrived.bytes.size());
}

void Votes::say_that_nothing_is_known(const Arrived& arrived) {
  VoteFrame frame{.name = arrived.frame.name};
  frame.message = {.from = config().receiver(setup_.self.plane), .to = arrived.frame.message.from};
  const bool is_pull = arrived.frame.message.kind == VoteKind::pull;
  frame.message.kind = is_pull ? VoteKind::nothing : VoteKind::opinions;
  network_.send(arrived.from, frame, {});
}

void Votes::answer(const MessageName& name, Sent& sent, const VoteMessage& question) {
  std::optional<std::vector<std::byte>> kept;
  const bool is_kept_elsewhere = setup_.stands_in() && name.stream.of == Stream::Of::messages;
  if (is_kept_elsewhere && question.kind == VoteKind::pull) kept = setup_.said(name);
  sent.machine.handle_message(question);
  drain(name, sent, kept ? Copy(*kept) : sent.copy());
}

void Votes::take(const MessageName& name, Received& received, const VoteMessage& message,
                 std::span<const std::byte> bytes) {
  VoteMessage heard = message;
  const std::int32_t origin = origin_of(message);
  if (message.kind == VoteKind::data) {
    if (origin < 0 || !received.digest_of) return;
    heard.digests[static_cast<std::size_t>(origin)] = received.digest_of(bytes);
  }
  const Suspected suspects = suspected(name.stream, received.absent);
  const Disposition disposition =
      received.machine.handle_message({.suspects = {suspects.ranks.data(), suspects.count}}, heard);
  if (disposition == Disposition::keep) {
    if (!received.held) received.held = std::make_unique<Held>();
    std::vector<std::byte>& held = (*received.held)[static_cast<std::size_t>(origin)];
    drop(held.size());
    keep(bytes.size());
    held.assign(bytes.begin(), bytes.end());
    received.has_bytes |= 1U << origin;
  }
  drain(name, received);
}

void Votes::hand_in_early(Flow& flow, std::uint64_t number) {
  const auto at = flow.early.find(number);
  if (at == flow.early.end()) return;
  const std::vector<Early> frames = std::move(at->second);
  flow.early.erase(at);
  for (const Early& early : frames) {
    drop(early.bytes.size());
    if (is_lost(early.from)) continue;
    const Arrived arrived{early.from, early.frame, early.bytes};
    if (early.frame.kind == VoteFrame::Kind::abstain)
      take_abstention(flow, arrived);
    else
      take_vote(flow, arrived);
  }
}

void Votes::lose_plane(std::int32_t plane) {
  if ((lost_planes_ >> plane & 1) != 0) return;
  for (auto& [stream, flow] : flows_) end_plain(stream, flow);
  lost_planes_ |= 1U << plane;
  for (auto& [stream, flow] : flows_) note_loss(stream, flow);
}

void Votes::lose(Replica process) {
  if (is_lost(process)) return;
  const auto is_of = [&](const Stream& stream) {
    return stream.sender == process.rank || stream.receiver == process.rank;
  };
  for (auto& [stream, flow] : flows_)
    if (is_of(stream)) end_plain(stream, flow);
  lost_.insert(process);
  for (auto& [stream, flow] : flows_)
    if (is_of(stream)) note_loss(stream, flow);
}

void Votes::note_loss(const Stream& stream, Flow& flow) {
  for (auto& [number, received] : flow.received) {
    const Suspected suspects = suspected(stream, received.absent);
    received.machine.handle_suspicion({.suspects = {suspects.ranks.data(), suspects.count}});
    drain({stream, number}, received);
  }
  note_own_progress(stream, flow);
}

// --- what machines want
// ---------------------------------------------------------------------------

void Votes::drain(const MessageName& name, Sent& sent, const Copy& copy) {
  const Suspected suspects = suspected(name.stream);
  const Context context{.suspects = {suspects.ranks.data(), suspects.count}};
  while (const auto message = sent.machine.poll_send(context)) {
    const bool is_native =
        message->kind == VoteKind::data && config().replica(message->to) == setup_.self.plane;
    if (is_native && std::exchange(sent.is_native_due, false)) continue;
    send_out(name, *message, copy);
  }
}

void Votes::drain(const MessageName& name, Received& received) {
  const Suspected suspects = suspected(name.stream, received.absent);
  const Context context{.suspects = {suspects.ranks.data(), suspects.count}};
  const auto copy_of = [&](std::int32_t origin) -> Copy {
    if (origin < 0 || (received.has_bytes >> origin & 1) == 0) return std::nullopt;
    return (*received.held)[static_cast<std::size_t>(origin)];
  };
  while (const auto event = received.machine.poll_event()) {
    const bool is_of_copy =
        event->kind == VoteEventKind::deliver || event->kind == VoteEventKind::repair;
    const Copy copy = is_of_copy ? copy_of(config().replica(event->origin)) : std::nullopt;
    note_settled(received, *event);
    on_vote_(name, *event, copy.value_or(std::span<const std::byte>{}));
  }
  while (const auto message = received.machine.poll_send(context))
    send_out(name, *message, copy_of(origin_of(*message)));
}

void Votes::note_settled(Received& received, const protocols::VoteEvent& event) {
  const bool is_over = event.kind == VoteEventKind::finish ||
                       event.kind == VoteEventKind::undecided || event.kind == VoteEventKind::lost;
  const bool is_confirmed = event.kind == VoteEventKind::confirm;
  if (is_over) --open_;
  if (is_confirmed && !std::exchange(received.is_confirmed, true)) --unconfirmed_;
  if ((is_over || is_confirmed) && !std::exchange(received.is_settled, true)) --unsettled_;
}

std::optional<std::uint64_t> Votes::verdict_of(const MessageName& name) const {
  return flows_.at(name.stream).received.at(name.number).machine.verdict();
}

bool Votes::has_heard(const MessageName& name) const {
  return flows_.at(name.stream).received.at(name.number).machine.has_heard();
}

// `copy`: if it is one and it is here. Else its receiver learns that it is not.
void Votes::send_out(const MessageName& name, const VoteMessage& message, Copy copy) {
  VoteFrame frame{.name = name, .message = message};
  if (message.kind != VoteKind::data) copy.reset();
  if (message.kind == VoteKind::data && !copy) {
    frame.message = {.from = message.from, .to = message.to};
    frame.message.kind = VoteKind::nothing;
  }
  const Replica to = replica(name.stream, message.to);
  // A process that is both ends has its own share before it asks, and then asks others.
  RESPROUT_INVARIANT(to != setup_.self);
  if (!is_lost(to)) network_.send(to, frame, copy.value_or(std::span<const std::byte>{}));
}

// --- what is over
// ---------------------------------------------------------------------------------

void Votes::note_own_progress(const Stream& stream, Flow& flow) {
  if (is_receiver(stream)) {
    std::uint64_t& own = flow.over[static_cast<std::size_t>(setup_.self.plane)];
    for (;; ++own) {
      const Plain* plain = flow.plain.find(own);
      const bool is_over = (plain != nullptr && plain->is_over) || flow.abstained.contains(own);
      if (!is_over) {
        const auto at = flow.received.find(own);
        if (at == flow.received.end() || !at->second.machine.is_over()) break;
        untold_bytes_ += at->second.held_bytes();
      }
      // Its own sender: the others keep as much.
      if (const auto at = flow.sent.find(own); at != flow.sent.end())
        untold_bytes_ += at->second.bytes.size();
      if (own == flow.told) untold_.push_back(stream);
      ++untold_messages_;
    }
    if (own - flow.told >= untold_max) tell(stream, flow);
    if (untold_messages_ >= untold_of_all_max || untold_bytes_ >= untold_bytes_max) tell_all();
  }
  forget(stream, flow);
}

void Votes::tell_all() {
  for (const Stream& stream : untold_) tell(stream, flows_.at(stream));
  untold_.clear();
  untold_messages_ = 0;
  untold_bytes_ = 0;
}

void Votes::tell(const Stream& stream, Flow& flow) {
  const std::uint64_t own = flow.over[static_cast<std::size_t>(setup_.self.plane)];
  if (own == flow.told) return;
  flow.told = own;
  VoteFrame frame{.name = {stream, own}};
  frame.kind = VoteFrame::Kind::over;
  for (std::int32_t i = 0; i < config().procs(); ++i) {
    const Replica to = replica(stream, rank_at(i));
    const bool is_told_already =
        !config().is_sender(rank_at(i)) && stream.sender == stream.receiver;
    if (to != setup_.self && !is_told_already && !is_lost(to)) network_.send(to, frame, {});
  }
}

void Votes::finish_own_plane() {
  RESPROUT_INVARIANT(are_all_over());
  for (std::int32_t plane = 0; plane < config().degree; ++plane) {
    if (plane == setup_.self.plane || is_lost({plane, setup_.self.rank})) continue;
    VoteFrame frame;
    frame.kind = VoteFrame::Kind::plane_over;
    network_.send({plane, setup_.self.rank}, frame, {});
  }
  finish_plane(setup_.self.plane);
}

void Votes::finish_plane(std::int32_t plane) {
  planes_over_ |= 1U << plane;
  for (auto& [stream, flow] : flows_) forget(stream, flow);
}

bool Votes::are_planes_over() const {
  for (std::int32_t plane = 0; plane < config().degree; ++plane)
    if (!is_lost({plane, setup_.self.rank}) && !is_plane_over(plane)) return false;
  return true;
}

void Votes::forget(const Stream& stream, Flow& flow) {
  std::uint64_t below = std::numeric_limits<std::uint64_t>::max();
  for (std::int32_t plane = 0; plane < config().degree; ++plane)
    if (!is_lost({plane, stream.receiver}) && !is_plane_over(plane))
      below = std::min(below, flow.over[static_cast<std::size_t>(plane)]);
  if (below <= flow.forgotten) return;
  flow.forgotten = below;
  flow.digests.drop_below(below);
  flow.plain.drop_below(below);
  flow.abstained.erase(flow.abstained.begin(), flow.abstained.lower_bound(below));
  const auto erase_from = [&](auto& numbered, auto bytes_of) {
    const auto end = numbered.lower_bound(flow.forgotten);
    for (auto at = numbered.begin(); at != end; ++at) drop(bytes_of(at->second));
    numbered.erase(numbered.begin(), end);
  };
  erase_from(flow.sent, [](const Sent& sent) { return sent.bytes.size(); });
  erase_from(flow.received, [](const Received& received) { return received.held_bytes(); });
  erase_from(flow.early, [](const std::vector<Early>& frames) {
    std::size_t bytes = 0;
    for (const Early& early : frames) bytes += early.bytes.size();
    return bytes;
  });
}

std::size_t Votes::Received::held_bytes() const {
  if (!held) return 0;
  std::size_t bytes = 0;
  for (const auto& copy : *held) bytes += copy.size();
  return bytes;
}

void Votes::keep(std::size_t bytes) {
  bytes_ += bytes;
  load_max_.bytes = std::max(load_max_.bytes, bytes_);
}

}  // namespace resprout::runtime

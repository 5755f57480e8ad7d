// Messages without a machine: invariant 4 of votes.hpp.
#include <algorithm>
#include <bit>
#include <utility>

#include "core/invariant.hpp"
#include "runtime/replicas/votes.hpp"

namespace resprout::runtime {

using protocols::VoteKind;
using protocols::VoteMessage;

// The planes whose senders owe this process something; bit k: plane k.
std::uint8_t Votes::owed(const Stream& stream) const {
  std::uint8_t planes = 0;
  for (std::int32_t plane = 0; plane < config().degree; ++plane) {
    const protocols::Share share = config_of(stream).share(plane, setup_.self.plane);
    if (plane != setup_.self.plane && share != protocols::Share::none)
      planes |= static_cast<std::uint8_t>(1U << plane);
  }
  return planes;
}

// Whose share it is; -1: it is none.
std::int32_t Votes::share_plane(const Stream& stream, const VoteMessage& message) const {
  if (message.kind != kind_of_share(stream)) return -1;
  const std::int32_t plane = config().replica(message.from);
  const bool is_its_own = message.from == config().sender(plane) && message.origins == 1U << plane;
  return is_its_own && (owed(stream) >> plane & 1) != 0 ? plane : -1;
}

VoteMessage Votes::share_of(const Stream& stream, std::int32_t plane, std::uint64_t digest) const {
  VoteMessage message{.from = config().sender(plane), .to = config().receiver(setup_.self.plane)};
  message.kind = kind_of_share(stream);
  message.origins = 1U << plane;
  message.digests[static_cast<std::size_t>(plane)] = digest;
  return message;
}

VoteMessage Votes::own_copy_of(std::uint64_t digest) const {
  VoteMessage message{.from = config().sender(setup_.self.plane),
                      .to = config().receiver(setup_.self.plane)};
  message.origins = 1U << setup_.self.plane;
  message.digests[static_cast<std::size_t>(setup_.self.plane)] = digest;
  return message;
}

bool Votes::maybe_receive_plain(const MessageName& name, const Label& label, std::uint64_t digest) {
  RESPROUT_INVARIANT(is_receiver(name.stream));
  if (!may_be_plain(name.stream)) return false;
  Flow& flow = flow_of(name.stream);
  Plain* plain = flow.plain.make(name.number);
  if (plain == nullptr || (plain->heard != 0 && plain->share != digest)) return false;
  RESPROUT_INVARIANT(!plain->has_own);
  const std::uint8_t copies = take_early_copies(flow, name, label, digest);
  if (!flow.early.empty() && flow.early.contains(name.number)) return false;
  load_max_.open = std::max(load_max_.open, ++open_);
  ++unconfirmed_;
  ++unsettled_;
  plain->has_own = true;
  plain->own = digest;
  plain->label = label;
  const std::uint8_t heard = std::exchange(plain->heard, std::uint8_t{0}) | copies;
  if (heard != 0) agree(name, *plain, heard);
  note_own_progress(name.stream, flow);
  return true;
}

// These planes have said the same. REQUIRES: at least one, and it has not heard of them.
void Votes::agree(const MessageName& name, Plain& plain, std::uint8_t planes) {
  if (plain.heard == 0) {
    --unconfirmed_;
    --unsettled_;
  }
  plain.heard |= planes;
  if (plain.heard != owed(name.stream)) return;
  plain.is_over = true;
  plain.label = {};
  --open_;
  also_said_.agreed(name);
}

// False: it is not plain, or no more.
bool Votes::maybe_take_plain(Flow& flow, const Arrived& arrived) {
  const MessageName& name = arrived.frame.name;
  const VoteMessage& message = arrived.frame.message;
  const std::int32_t from = share_plane(name.stream, message);
  const bool is_copy = message.kind == VoteKind::data;
  Plain* plain = flow.plain.find(name.number);
  if (plain != nullptr && plain->has_own) {
    const bool is_new = from >= 0 && (plain->heard >> from & 1) == 0;
    if (is_copy && from >= 0 && !is_new) return true;  // the first one stays
    const bool is_equal =
        from >= 0 && plain->own == (is_copy ? plain->label.digest_of(arrived.bytes)
                                            : message.digests[static_cast<std::size_t>(from)]);
    if (is_equal && is_new) agree(name, *plain, static_cast<std::uint8_t>(1U << from));
    if (is_equal) return true;
    make_machine(name, flow, *plain);
    return false;
  }
  if (!may_be_plain(name.stream) || from < 0 || is_copy || flow.received.contains(name.number))
    return false;
  plain = flow.plain.make(name.number);
  if (plain == nullptr || plain->heard != 0) return false;
  plain->heard = static_cast<std::uint8_t>(1U << from);
  plain->share = message.digests[static_cast<std::size_t>(from)];
  return true;
}

// Copies that have come too early wait with their bytes: only now it is known what these are. Those
// of the planes that are given back were all that had come, and are equal.
std::uint8_t Votes::take_early_copies(Flow& flow, const MessageName& name, const Label& label,
                                      std::uint64_t digest) {
  if (flow.early.empty() || kind_of_share(name.stream) != VoteKind::data) return 0;
  const auto at = flow.early.find(name.number);
  if (at == flow.early.end()) return 0;
  std::uint8_t planes = 0;
  std::size_t bytes = 0;
  for (const Early& early : at->second) {
    const std::int32_t from = share_plane(name.stream, early.frame.message);
    if (from < 0 || label.digest_of(early.bytes) != digest) return 0;
    planes |= static_cast<std::uint8_t>(1U << from);
    bytes += early.bytes.size();
  }
  drop(bytes);
  flow.early.erase(at);
  return planes;
}

// Tells it what has happened so far. What it says of that was said.
void Votes::make_machine(const MessageName& name, Flow& flow, Plain& plain) {
  Received made{.machine = {config_of(name.stream), config().receiver(setup_.self.plane)},
                .digest_of = std::move(plain.label.digest_of)};
  made.machine.start({});
  made.machine.handle_message({}, own_copy_of(plain.own));
  for (std::int32_t plane = 0; plane < config().degree; ++plane)
    if ((plain.heard >> plane & 1) != 0)
      made.machine.handle_message({}, share_of(name.stream, plane, plain.own));
  made.is_confirmed = made.is_settled = plain.heard != 0;
  if (!plain.is_over) also_said_.has_machine(name, plain.label);
  while (made.machine.poll_event()) {
  }
  RESPROUT_INVARIANT(made.machine.is_over() == plain.is_over);
  flow.received.emplace(name.number, std::move(made));
  plain = {};
}

// What waits for its share gets a machine, and shares that came too early wait like all else.
void Votes::end_plain(const Stream& stream, Flow& flow) {
  if (!may_be_plain(stream)) return;
  flow.plain.for_each([&](std::uint64_t number, Plain& plain) {
    const MessageName name{stream, number};
    if (plain.has_own && !plain.is_over) {
      make_machine(name, flow, plain);
    } else if (plain.heard != 0 && !plain.has_own) {
      const std::int32_t plane = std::countr_zero(plain.heard);
      VoteFrame frame{.name = name, .message = share_of(stream, plane, plain.share)};
      std::vector<Early>& early = flow.early[number];
      early.insert(early.begin(), {{plane, stream.sender}, frame, {}});
      plain = {};
    }
  });
}

}  // namespace resprout::runtime

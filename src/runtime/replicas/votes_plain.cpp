// Messages without a machine: invariant 4 of votes.hpp.
#include <algorithm>

#include "core/invariant.hpp"
#include "runtime/replicas/votes.hpp"

namespace resprout::runtime {

using protocols::VoteKind;
using protocols::VoteMessage;

bool Votes::is_share(const VoteMessage& message) const {
  return message.kind == VoteKind::digest && message.origins == 1U << share_plane() &&
         message.from == config().sender(share_plane());
}

VoteMessage Votes::share_of(std::uint64_t digest) const {
  VoteMessage message{.from = config().sender(share_plane()),
                      .to = config().receiver(setup_.self.plane)};
  message.kind = VoteKind::digest;
  message.origins = 1U << share_plane();
  message.digests[static_cast<std::size_t>(share_plane())] = digest;
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
  Flow& flow = flows_[name.stream];
  if (!flow.early.empty() && flow.early.contains(name.number)) return false;
  Plain* plain = flow.plain.make(name.number);
  if (plain == nullptr || (plain->has_share && plain->share != digest)) return false;
  RESPROUT_INVARIANT(!plain->has_own);
  load_max_.open = std::max(load_max_.open, ++open_);
  ++unconfirmed_;
  ++unsettled_;
  plain->has_own = true;
  plain->own = digest;
  if (plain->has_share)
    agree(name);
  else
    plain->label = label;
  note_own_progress(name.stream, flow);
  return true;
}

void Votes::agree(const MessageName& name) {
  --open_;
  --unconfirmed_;
  --unsettled_;
  on_plain_.agreed(name);
}

// False: it is not plain, or no more.
bool Votes::maybe_take_plain(Flow& flow, const Early& arrived) {
  const MessageName& name = arrived.frame.name;
  const VoteMessage& message = arrived.frame.message;
  Plain* plain = flow.plain.find(name.number);
  if (plain != nullptr && plain->has_own) {
    const bool is_equal =
        is_share(message) && message.digests[static_cast<std::size_t>(share_plane())] == plain->own;
    if (is_equal && !plain->has_share) {
      plain->has_share = true;
      plain->label = {};
      agree(name);
    }
    if (is_equal) return true;
    make_machine(name, flow, *plain);
    return false;
  }
  if (!may_be_plain(name.stream) || !is_share(message) || flow.received.contains(name.number))
    return false;
  plain = flow.plain.make(name.number);
  if (plain == nullptr || plain->has_share) return false;
  plain->has_share = true;
  plain->share = message.digests[static_cast<std::size_t>(share_plane())];
  return true;
}

// Tells it what has happened so far. What it says of that was said.
void Votes::make_machine(const MessageName& name, Flow& flow, Plain& plain) {
  Received made{.machine = {config_of(name.stream), config().receiver(setup_.self.plane)},
                .digest_of = std::move(plain.label.digest_of)};
  made.machine.start({});
  made.machine.handle_message({}, own_copy_of(plain.own));
  if (plain.is_over()) {
    made.machine.handle_message({}, share_of(plain.own));
    made.is_confirmed = made.is_settled = true;
  } else {
    on_plain_.has_machine(name, plain.label);
  }
  while (made.machine.poll_event()) {
  }
  RESPROUT_INVARIANT(made.machine.is_over() == plain.is_over());
  flow.received.emplace(name.number, std::move(made));
  plain = {};
}

// What waits for its share gets a machine, and shares that came too early wait like all else.
void Votes::end_plain() {
  if (lost_planes_ != 0) return;
  for (auto& [stream, flow] : flows_)
    flow.plain.for_each([&, &stream = stream, &flow = flow](std::uint64_t number, Plain& plain) {
      const MessageName name{stream, number};
      if (plain.has_own && !plain.has_share) {
        make_machine(name, flow, plain);
      } else if (plain.has_share && !plain.has_own) {
        VoteFrame frame{.name = name, .message = share_of(plain.share)};
        std::vector<Early>& early = flow.early[number];
        early.insert(early.begin(), {{share_plane(), stream.sender}, frame, {}});
        plain = {};
      }
    });
}

}  // namespace resprout::runtime

#include "protocols/digest_vote/received_copy.hpp"

namespace resprout::protocols {

namespace {

// Counting bits is no instruction on every machine, but a function of a library.
std::int32_t count(std::uint32_t set) {
  std::int32_t sum = 0;
  for (; set != 0; set &= set - 1) ++sum;
  return sum;
}

}  // namespace

ReceivedCopy::ReceivedCopy(const DigestVoteConfig& config, Rank self)
    : config_(&config), self_(config.replica(self)) {}

// --- what is known
// --------------------------------------------------------------------------------

bool ReceivedCopy::may_still_come(const Context& context, std::int32_t sender,
                                  bool wants_data) const {
  const Share share = config_->share(sender, self_);
  if (share == Share::none || (wants_data && share != Share::data)) return false;
  return !has_share(sender) && !is_suspected(context, config_->sender(sender));
}

bool ReceivedCopy::awaits_share_of(const Context& context, std::int32_t sender) const {
  return !is_over() && may_still_come(context, sender, false);
}

bool ReceivedCopy::are_shares_settled(const Context& context) const {
  for (std::int32_t sender = 0; sender < config_->degree; ++sender)
    if (may_still_come(context, sender, false)) return false;
  return true;
}

std::uint32_t ReceivedCopy::usable() const {
  return has_verdict_ != 0 ? held_ & opinions_.agreeing(verdict_) : held_;
}

// The receiver's own plane first, then the next ones. REQUIRES: not empty.
std::int32_t ReceivedCopy::preferred(std::uint32_t origins) const {
  std::int32_t origin = self_;
  while ((origins >> origin & 1) == 0) origin = (origin + 1) % config_->degree;
  return origin;
}

// --- what comes in
// --------------------------------------------------------------------------------

// A copy, or a sender's digest of one. Whether its bytes are to be kept.
bool ReceivedCopy::take_copy(const VoteMessage& message) {
  std::int32_t origin = 0;
  while (origin < config_->degree && message.origins != Opinions::bit(origin)) ++origin;
  if (origin == config_->degree) return false;
  const std::uint64_t digest = message.digests[static_cast<std::size_t>(origin)];
  const Share share = config_->share(origin, self_);
  const bool is_data = message.kind == VoteKind::data;
  if (message.from == config_->sender(origin) && share == (is_data ? Share::data : Share::digest))
    shares_in_ |= Opinions::bit(origin);
  opinions_.learn(origin, digest);
  if (!is_data) return false;
  if (is_inquiring_ == 0) note_answer(message.from);
  const bool is_new = (held_ & Opinions::bit(origin)) == 0;
  if (!is_new || !opinions_.matches(origin, digest)) return false;
  held_ |= Opinions::bit(origin);
  return true;
}

Disposition ReceivedCopy::handle_message(const Context& context, const VoteMessage& message) {
  if (is_suspected(context, message.from)) return Disposition::done;
  const std::int32_t sibling = config_->replica(message.from);
  bool keeps = false;
  switch (message.kind) {
    case VoteKind::inquiry:
      curious_ |= 1U << sibling;
      return Disposition::done;
    case VoteKind::pull:
      needy_ |= 1U << sibling;
      wanted_[static_cast<std::size_t>(sibling)] = message.origins;
      return Disposition::done;
    case VoteKind::data:
    case VoteKind::digest:
      if (!is_over()) keeps = take_copy(message);
      break;
    case VoteKind::opinions:
      if (asking_ != message.from || is_inquiring_ == 0) break;
      note_answer(message.from);
      for (std::int32_t origin = 0; origin < config_->degree; ++origin)
        if ((message.origins >> origin & 1) != 0)
          opinions_.learn(origin, message.digests[static_cast<std::size_t>(origin)]);
      break;
    case VoteKind::nothing:
      if (is_inquiring_ == 0) note_answer(message.from);
      break;
  }
  advance(context);
  return keeps ? Disposition::keep : Disposition::done;
}

// --- what follows
// ---------------------------------------------------------------------------------

void ReceivedCopy::start(const Context& context) { advance(context); }

void ReceivedCopy::handle_suspicion(const Context& context) { advance(context); }

void ReceivedCopy::advance(const Context& context) {
  if (is_over()) return;
  if (asking_ != no_rank && is_suspected(context, asking_)) asking_ = no_rank;
  const std::int32_t majority = opinions_.majority();
  if (has_verdict_ == 0 && majority >= 0) {
    has_verdict_ = 1;
    verdict_ = opinions_.at(majority);
    pulled_ = 0;  // who had no copy at all may have this one
  }
  deliver_if_allowed(context);
  if (has_verdict_ != 0)
    go_on_with_verdict(context);
  else
    go_on_without_verdict(context);
}

// Invariant 2, but for the only copy that is left.
void ReceivedCopy::deliver_if_allowed(const Context& context) {
  if (delivered_ >= 0 || usable() == 0) return;
  const bool is_proven = has_verdict_ != 0 && are_shares_settled(context);
  const bool is_uncontradicted =
      has_verdict_ != 0 || (!opinions_.differ() && !has_to_wait_for_own(context));
  if (is_proven || (config_->is_lazy() && is_uncontradicted)) delivered_ = preferred(usable());
}

bool ReceivedCopy::has_to_wait_for_own(const Context& context) const {
  return config_->unproven == Unproven::own && may_still_come(context, self_, true);
}

void ReceivedCopy::go_on_with_verdict(const Context& context) {
  const bool is_right = delivered_ >= 0 && opinions_.at(delivered_) == verdict_;
  if (delivered_ >= 0 && !is_right && repaired_ < 0 && usable() != 0)
    repaired_ = preferred(usable());
  if (asking_ != no_rank || !are_shares_settled(context)) return;
  if (is_right || repaired_ >= 0)
    end_ = End::finished;
  else if (!maybe_pull(context, opinions_.agreeing(verdict_)))
    end_ = End::lost;
}

void ReceivedCopy::go_on_without_verdict(const Context& context) {
  if (asking_ != no_rank) return;
  bool comes_by_itself = usable() != 0;
  for (std::int32_t sender = 0; sender < config_->degree; ++sender)
    comes_by_itself = comes_by_itself || may_still_come(context, sender, true);
  const std::uint32_t all = (1U << config_->degree) - 1;
  if (!comes_by_itself && maybe_pull(context, all)) return;
  if (!are_shares_settled(context)) return;
  if (opinions_.heard() != all && maybe_inquire(context)) return;
  if (opinions_.differ()) {
    end_ = End::undecided;
  } else if (usable() == 0) {
    end_ = End::lost;
  } else {
    if (delivered_ < 0) delivered_ = preferred(usable());
    end_ = End::finished;
  }
}

// --- what is asked
// --------------------------------------------------------------------------------

// Asks the next one what it knows: a sibling, or a sender of whom nothing was heard. False: all
// have been asked.
bool ReceivedCopy::maybe_inquire(const Context& context) {
  const std::int32_t degree = config_->degree;
  for (std::int32_t step = 1; step < 2 * degree; ++step) {
    const std::int32_t replica = (self_ + step) % degree;
    const bool is_sibling = step < degree;
    if (!is_sibling && opinions_.has_heard(replica)) continue;
    const Rank rank = is_sibling ? config_->receiver(replica) : config_->sender(replica);
    if ((inquired_ >> index(rank) & 1) != 0 || is_suspected(context, rank)) continue;
    inquired_ |= 1U << index(rank);
    ask(rank, VoteKind::inquiry, 0);
    return true;
  }
  return false;
}

// Asks the next process that may have a copy of one of `origins`: senders of whom nothing was
// heard, then other senders, then siblings. False: all have been asked.
bool ReceivedCopy::maybe_pull(const Context& context, std::uint32_t origins) {
  const auto may_ask = [&](Rank rank) {
    return (pulled_ >> index(rank) & 1) == 0 && !is_suspected(context, rank);
  };
  Rank best = no_rank;
  for (std::int32_t step = config_->degree; step > 0; --step) {
    const std::int32_t replica = (self_ + step) % config_->degree;
    if (replica != self_ && may_ask(config_->receiver(replica))) best = config_->receiver(replica);
  }
  for (const bool is_heard : {true, false}) {
    for (std::int32_t step = config_->degree; step > 0; --step) {
      const std::int32_t origin = (self_ + step) % config_->degree;
      if ((origins >> origin & 1) != 0 && opinions_.has_heard(origin) == is_heard &&
          may_ask(config_->sender(origin)))
        best = config_->sender(origin);
    }
  }
  if (best == no_rank) return false;
  pulled_ |= 1U << index(best);
  ask(best, VoteKind::pull, origins);
  return true;
}

void ReceivedCopy::ask(Rank whom, VoteKind kind, std::uint32_t origins) {
  asking_ = whom;
  asked_origins_ = origins;
  is_inquiring_ = kind == VoteKind::inquiry ? 1 : 0;
  must_ask_ = 1;
}

// --- what goes out
// --------------------------------------------------------------------------------

std::optional<VoteEvent> ReceivedCopy::poll_event() {
  using Kind = VoteEventKind;
  if (delivered_ >= 0 && maybe_say(Said::deliver))
    return VoteEvent{Kind::deliver, origin_rank(delivered_)};
  if (opinions_.differ() && maybe_say(Said::mismatch)) return VoteEvent{Kind::mismatch};
  if (has_verdict_ != 0) {
    for (std::int32_t origin = 0; origin < config_->degree; ++origin) {
      const bool is_wrong = opinions_.has_heard(origin) && opinions_.at(origin) != verdict_;
      if (!is_wrong || (outvoted_ >> origin & 1) != 0) continue;
      outvoted_ |= 1U << origin;
      return VoteEvent{Kind::outvote, origin_rank(origin)};
    }
    const bool is_tainted = delivered_ >= 0 && opinions_.at(delivered_) != verdict_;
    if (is_tainted && maybe_say(Said::taint))
      return VoteEvent{Kind::taint, origin_rank(delivered_)};
    if (repaired_ >= 0 && maybe_say(Said::repair))
      return VoteEvent{Kind::repair, origin_rank(repaired_)};
    const bool is_right = delivered_ >= 0 && (!is_tainted || repaired_ >= 0);
    if (is_right && maybe_say(Said::confirm)) return VoteEvent{Kind::confirm};
  }
  if (is_over() && maybe_say(Said::end)) return end_event();
  return std::nullopt;
}

VoteEvent ReceivedCopy::end_event() const {
  if (end_ == End::undecided) return {VoteEventKind::undecided};
  if (end_ == End::lost) return {VoteEventKind::lost};
  const std::int32_t final = repaired_ >= 0 ? repaired_ : delivered_;
  return {VoteEventKind::finish, origin_rank(final),
          count(opinions_.agreeing(opinions_.at(final)))};
}

std::optional<VoteMessage> ReceivedCopy::poll_send(const Context& context) {
  if (must_ask_ != 0) {
    must_ask_ = 0;
    // It may have become suspected, or needless, since.
    if (asking_ != no_rank && !is_suspected(context, asking_)) {
      VoteMessage message =
          message_to(asking_, is_inquiring_ != 0 ? VoteKind::inquiry : VoteKind::pull);
      message.origins = asked_origins_;
      return message;
    }
  }
  return are_shares_settled(context) || is_over() ? poll_answer(context) : std::nullopt;
}

std::optional<VoteMessage> ReceivedCopy::poll_answer(const Context& context) {
  for (std::int32_t sibling = 0; sibling < config_->degree; ++sibling) {
    const std::uint32_t bit = 1U << sibling;
    const Rank rank = config_->receiver(sibling);
    if (is_suspected(context, rank)) {
      curious_ &= ~bit;
      needy_ &= ~bit;
    }
    if ((curious_ & bit) != 0) {
      curious_ &= ~bit;
      VoteMessage message = message_to(rank, VoteKind::opinions);
      for (std::int32_t origin = 0; origin < config_->degree; ++origin) {
        if (!opinions_.has_heard(origin)) continue;
        message.origins |= Opinions::bit(origin);
        message.digests[static_cast<std::size_t>(origin)] = opinions_.at(origin);
      }
      return message;
    }
    if ((needy_ & bit) == 0) continue;
    needy_ &= ~bit;
    const std::uint32_t given = usable() & wanted_[static_cast<std::size_t>(sibling)];
    VoteMessage message = message_to(rank, given != 0 ? VoteKind::data : VoteKind::nothing);
    if (given != 0) {
      const std::int32_t origin = preferred(given);
      message.origins = Opinions::bit(origin);
      message.digests[static_cast<std::size_t>(origin)] = opinions_.at(origin);
    }
    return message;
  }
  return std::nullopt;
}

VoteMessage ReceivedCopy::message_to(Rank to, VoteKind kind) const {
  VoteMessage message{.from = config_->receiver(self_), .to = to};
  message.kind = kind;
  return message;
}

const char* ReceivedCopy::waits_for(const Context& context) const {
  if (is_over()) return "nothing";
  if (asking_ != no_rank) return "the answer of another replica";
  return are_shares_settled(context) ? "nothing"
                                     : "the copies and digests of the sender's replicas";
}

}  // namespace resprout::protocols

// See views.hpp.
#include "runtime/lifeline/views.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/invariant.hpp"
#include "runtime/net/clock.hpp"
#include "runtime/net/membership_bytes.hpp"

namespace resprout::runtime {
namespace {

// No call waits for a view, but threads that agree on one take the processor from those that do
// wait; and other losses may follow.
constexpr std::int64_t decide_after_ns = 5'000'000;

}  // namespace

bool Views::is_kept() const {
  return options_.keeps_views && !is_over_ && roster_.size() <= Ids::capacity;
}

void Views::begin() {
  if (machine_) return;
  for (int rank = 0; rank < roster_.size(); ++rank) {
    rank_of_[id_of(rank)] = rank;
    installed_.members.add(id_of(rank));
  }
  // No event says that the first view is installed: everybody knows it.
  config_ = {tree_.tree, options_.heartbeat_period_ns};
  machine_ = std::make_unique<Machine>(
      Machine::founder(config_, id_of(options_.rank), installed_.members));
}

void Views::handle_loss(const Loss& loss, std::int64_t now) {
  if (!is_kept()) return;
  begin();
  const Rank id = id_of(loss.rank);
  const auto evidence =
      is_proven(loss.kind) ? protocols::Evidence::death : protocols::Evidence::silence;
  detected_ns_.emplace(id, loss.detected_ns);
  pending_.push_back({id, evidence, now, now + 2 * options_.heartbeat_period_ns});
  maybe_tell_machine(now);
}

// Soon if this process is the next coordinator; at once if these losses leave no quorum; late if
// the coordinator should have known it by now.
bool Views::has_to_tell(std::int64_t now) const {
  Ids lost = machine_->fenced();
  Ids dead;
  bool is_late = false;
  for (const Pending& loss : pending_) {
    lost.add(loss.id);
    if (loss.evidence == protocols::Evidence::death) dead.add(loss.id);
    is_late = is_late || now >= loss.due_at;
  }
  const Ids& members = machine_->view().members;
  const Ids living = members - lost;
  // Of deaths that the machine knows of, this knows nothing: then it is told too early, no more.
  const bool is_mine =
      living.lowest() == machine_->self() && now >= pending_.front().heard_at + decide_after_ns;
  return is_late || is_mine || !is_quorum(members, dead, living);
}

void Views::maybe_tell_machine(std::int64_t now) {
  if (pending_.empty() || !has_to_tell(now)) return;
  for (const Pending& loss : std::exchange(pending_, {}))
    machine_->handle_suspicion({now}, loss.id, loss.evidence);
  drain(now);
}

void Views::handle_message(int from, std::span<const std::uint8_t> bytes, std::int64_t now) {
  if (!is_kept()) return;
  Machine::Message message;
  ByteReader reader(bytes);
  if (!reader.message(message) || !reader.is_at_end()) return;
  begin();
  if (message.from != id_of(from)) return;
  // Whom this process takes for lost its machine must not follow.
  for (Pending& loss : pending_)
    if (loss.id == message.from) loss.due_at = now;
  maybe_tell_machine(now);
  machine_->handle_message({now}, message);
  drain(now);
}

void Views::handle_time(std::int64_t now) {
  if (!machine_) return;
  maybe_tell_machine(now);
  if (machine_->poll_timeout().at.ticks > now) return;
  machine_->handle_timeout({now});
  drain(now);
}

void Views::handle_goodbye() {
  if (is_isolated()) return;
  is_over_ = true;
  machine_.reset();
  pending_.clear();
}

Views::Fate Views::fate(std::int64_t now) const {
  if (!machine_) return Fate::goes_on;
  if (machine_->standing() == Machine::Standing::excluded) return Fate::excluded;
  const bool is_out_of_patience =
      is_isolated() && now - isolated_since_ >= 2 * options_.heartbeat_timeout_ns;
  return is_out_of_patience ? Fate::isolated : Fate::goes_on;
}

void Views::drain(std::int64_t now) {
  using protocols::MembershipEventKind;
  std::vector<int> found;
  while (const auto event = machine_->poll_event()) {
    switch (event->kind) {
      case MembershipEventKind::detect: {
        // By a probe: it hears too few to go on, but this process does.
        const int rank = rank_of_.at(event->about);
        if (roster_.is_alive(rank)) found.push_back(rank);
        break;
      }
      case MembershipEventKind::decide:
        decided_ns_ = realtime_ns();
        break;
      case MembershipEventKind::install:
        note_installed();
        break;
      case MembershipEventKind::isolate:
        isolated_since_ = now;
        break;
      case MembershipEventKind::exclude:
        break;
    }
  }
  while (const auto message = machine_->poll_send()) {
    ByteWriter writer;
    writer.message(*message);
    overlay_.send(rank_of_.at(message->to), writer.bytes, now);
  }
  for (const int rank : found)
    findings_.handle_loss({.rank = rank,
                           .kind = LossKind::unreachable,
                           .found_by = options_.rank,
                           .detected_ns = realtime_ns()});
}

void Views::note_installed() {
  const auto view = machine_->view();
  InstalledView said{.epoch = view.epoch,
                     .lost = {},
                     .detected_ns = 0,
                     .decided_ns = std::exchange(decided_ns_, 0),
                     .installed_ns = realtime_ns()};
  for (const auto& [id, rank] : rank_of_)
    if (!view.members.contains(id)) said.lost.push_back(rank);
  std::ranges::sort(said.lost);
  (installed_.members - view.members).for_each([&](Rank id) {
    const auto known = detected_ns_.find(id);
    if (known == detected_ns_.end()) return;
    if (said.detected_ns == 0 || known->second < said.detected_ns) said.detected_ns = known->second;
  });
  installed_ = view;
  if (options_.on_view) options_.on_view(said);
}

}  // namespace resprout::runtime

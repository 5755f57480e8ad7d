#include "runtime/lifeline/siblings.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include "runtime/net/clock.hpp"

namespace resprout::runtime {

void Siblings::start(std::span<const PeerAddress> peers, std::int64_t now) {
  const PeerAddress& own = peers[static_cast<std::size_t>(options_.rank)];
  for (int rank = 0; rank < static_cast<int>(peers.size()); ++rank) {
    const PeerAddress& peer = peers[static_cast<std::size_t>(rank)];
    if (rank == options_.rank || !peer.is_same_host(own)) continue;
    Sibling sibling{.rank = rank,
                    .pid = peer.pid,
                    .start_time = peer.start_time,
                    .pidfd = open_process(peer.pid),
                    .page = StatusPage::open(peer.pid, peer.status_fd)};
    const int error = errno;
    sibling.silence.start({now});
    if (!sibling.page.is_open() && !has_ended(sibling))
      throw std::system_error(error, std::generic_category(),
                              "cannot watch rank " + std::to_string(rank) + " on this host");
    // Who died before we looked, or whose number has a new owner, leaves no event: it is found when
    // the pages are first looked at.
    if (has_ended(sibling)) sibling.pidfd.reset();
    if (sibling.pidfd.is_open())
      poller_.add(sibling.pidfd, first_key_ + static_cast<std::uint64_t>(rank), EPOLLIN);
    siblings_.push_back(std::move(sibling));
  }
}

std::vector<int> Siblings::ranks() const {
  std::vector<int> out;
  for (const Sibling& sibling : siblings_) out.push_back(sibling.rank);
  return out;
}

Siblings::Sibling* Siblings::find(int rank) {
  for (Sibling& sibling : siblings_)
    if (sibling.rank == rank) return &sibling;
  return nullptr;
}

bool Siblings::has_ended(const Sibling& sibling) {
  const auto status = process_status(sibling.pid);
  return !status || status->has_ended() || status->start_time != sibling.start_time;
}

void Siblings::handle_death(int rank) {
  if (const Sibling* sibling = find(rank)) report_end(*sibling, realtime_ns());
}

void Siblings::report_end(const Sibling& sibling, std::int64_t detected_ns) {
  if (sibling.page.is_open() && sibling.page->goodbye.load() != 0) {
    findings_.handle_left(sibling.rank);
    return;
  }
  const std::uint32_t ended_by = sibling.page.is_open() ? sibling.page->ended_by.load() : 0;
  findings_.handle_loss({.rank = sibling.rank,
                         .kind = ended_by != 0 ? LossKind::hung : LossKind::exited,
                         .found_by = ended_by != 0 ? static_cast<int>(ended_by) - 1 : options_.rank,
                         .detected_ns = detected_ns});
}

void Siblings::handle_time(std::int64_t now, std::int64_t starved_ns) {
  // Findings come back as `forget`, which changes the list.
  for (const int rank : ranks()) {
    if (const Sibling* it = find(rank); it != nullptr && !it->pidfd.is_open())
      look_at(rank, realtime_ns());
    Sibling* const sibling = find(rank);
    if (sibling == nullptr || !sibling->page.is_open()) continue;
    if (starved_ns > 0) sibling->silence.forgive({now}, starved_ns);
    const std::uint64_t heartbeat = sibling->page->heartbeat.load(std::memory_order_relaxed);
    if (heartbeat != sibling->heartbeat) {
      sibling->heartbeat = heartbeat;
      sibling->silence.handle_sound({now});
    }
    if (sibling->page->goodbye.load() != 0) {
      findings_.handle_left(rank);
    } else if (sibling->silence.length({now}) >= options_.heartbeat_timeout_ns) {
      maybe_end(*sibling, now);
    }
  }
}

void Siblings::look_at(int rank, std::int64_t seen_ns) {
  const Sibling* const sibling = find(rank);
  if (sibling == nullptr) return;
  if (death_marks_.has_died(rank) || has_ended(*sibling)) report_end(*sibling, seen_ns);
}

void Siblings::look_at_death_marks() {
  death_marks_.for_each_marked([this](int rank) { look_at(rank, realtime_ns()); });
}

void Siblings::maybe_end(Sibling& sibling, std::int64_t now) {
  const auto status = process_status(sibling.pid);
  if (!status || status->has_ended() || status->start_time != sibling.start_time) return;
  // It goes on as soon as the debugger lets it.
  if (status->is_held()) {
    sibling.silence.handle_sound({now});
    return;
  }
  const std::int64_t grace = health_.stretch(options_.starved_grace_ns);
  const bool is_out_of_grace =
      sibling.silence.length({now}) >= options_.heartbeat_timeout_ns + grace;
  if (!status->is_stopped() && !is_out_of_grace) return;
  std::uint32_t nobody = 0;
  sibling.page->ended_by.compare_exchange_strong(nobody,
                                                 static_cast<std::uint32_t>(options_.rank) + 1);
  // Its death comes as an event. If it must not be ended, it is at least ignored from now on.
  if (end_process(sibling.pidfd, sibling.pid)) return;
  findings_.handle_loss({.rank = sibling.rank,
                         .kind = LossKind::unreachable,
                         .found_by = options_.rank,
                         .detected_ns = realtime_ns()});
}

void Siblings::fence(int rank) {
  const Sibling* const sibling = find(rank);
  if (sibling == nullptr) return;
  const auto status = process_status(sibling->pid);
  if (!status || status->start_time != sibling->start_time) return;
  if (status->is_stopped() || status->is_held()) end_process(sibling->pidfd, sibling->pid);
}

void Siblings::forget(int rank) {
  std::erase_if(siblings_, [&](Sibling& sibling) {
    if (sibling.rank == rank) poller_.remove_and_close(sibling.pidfd);
    return sibling.rank == rank;
  });
}

}  // namespace resprout::runtime

#include "mpi/policies/replicas/replica_substitution.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <utility>

#include "mpi/policies/replicas/decided.hpp"
#include "mpi/process/meanwhile.hpp"
#include "mpi/process/names.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"
#include "runtime/idle.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

using runtime::MessageName;
using runtime::Recall;
using runtime::Replica;
using runtime::Stream;

Findings::Setup findings_setup(const Options& options, int rank,
                               std::function<bool()> has_stand_in) {
  return {.run_directory = options.run_directory,
          .rank = rank,
          .replica = options.replica,
          .on_corruption = options.on_corruption,
          .has_stand_in = std::move(has_stand_in)};
}

}  // namespace

ReplicaSubstitution::ReplicaSubstitution(const Options& options, const std::string& address,
                                         int rank, int ranks)
    : rank_(rank),
      ranks_(ranks),
      plane_(options.replica),
      verifies_(options.verify.has_value()),
      findings_(findings_setup(options, rank, [this] { return has_living_sibling(); })),
      peer_planes_(
          std::in_place, options,
          PeerPlanes::Setup{
              .discovery = std::filesystem::path(options.run_directory).parent_path().string(),
              .address = address,
              .rank = rank,
              .ranks = ranks,
              .on_finding = [this](const runtime::Finding& finding) { note(finding); },
              .on_process_lost = [this](Replica replica) { lose(replica); },
              .said = [this](const MessageName& name) -> std::optional<std::vector<std::byte>> {
                const runtime::MutexLock lock(mutex_);
                const auto* bytes = recall_.find(name);
                return bytes != nullptr ? std::optional(*bytes) : std::nullopt;
              }}),
      recall_({.self = {options.replica, rank}, .planes = options.replicas, .ranks = ranks},
              peer_planes_->links) {
  peer_planes_->links.listen(runtime::Channel::recalls, [this](Replica from, auto frame) {
    const runtime::MutexLock lock(mutex_);
    recall_.handle(from, frame);
  });
  peer_planes_->meet();
}

void ReplicaSubstitution::lose(int world_rank) {
  const runtime::MutexLock lock(leaving_);
  if (peer_planes_) lose(Replica{plane_, world_rank});
}

// The thread of the links, which calls it, too, ends before the peer planes.
void ReplicaSubstitution::lose(Replica replica) {
  {
    const runtime::MutexLock lock(mutex_);
    recall_.lose(replica);
  }
  peer_planes_->verifier.lose(replica);
  if (replica.rank != rank_) return;
  peer_planes_->decisions.lose_plane(replica.plane);
  peer_planes_->lag.lose_plane(replica.plane);
}

// Whoever waits for what nobody has any more says so, and ends: nothing is corrupted.
void ReplicaSubstitution::note(const runtime::Finding& finding) {
  const bool is_mere_loss = finding.end == runtime::Finding::End::lost && finding.wrong_planes == 0;
  if (!is_mere_loss) findings_.note(finding);
}

bool ReplicaSubstitution::has_living_sibling() {
  const runtime::MutexLock lock(mutex_);
  for (std::int32_t plane = 0; plane < recall_.planes(); ++plane)
    if (plane != plane_ && recall_.is_alive({plane, rank_})) return true;
  return false;
}

void ReplicaSubstitution::keep(const MessageName& name, std::span<const std::byte> bytes,
                               std::span<const std::int32_t> readers) {
  const runtime::MutexLock lock(mutex_);
  recall_.keep(name, bytes, readers);
}

std::vector<std::byte> ReplicaSubstitution::said(const MessageName& name) {
  const runtime::MutexLock lock(mutex_);
  return recall_.said(name);
}

void ReplicaSubstitution::note_received(const MessageName& name) {
  const runtime::MutexLock lock(mutex_);
  Received& received = received_[name.stream];
  received.beyond.insert(name.number);
  while (received.beyond.erase(received.all_up_to + 1) != 0) ++received.all_up_to;
  recall_.note_received(name.stream, received.all_up_to);
}

std::uint64_t ReplicaSubstitution::next_collective(std::uint64_t communicator) {
  const runtime::MutexLock lock(mutex_);
  return ++collectives_[communicator];
}

void ReplicaSubstitution::note_collective(std::uint64_t communicator, std::uint64_t number) {
  const runtime::MutexLock lock(mutex_);
  recall_.note_collective(communicator, number);
}

std::vector<std::byte> ReplicaSubstitution::recall(const MessageName& name, std::int32_t whose,
                                                   const char* call) {
  std::optional<std::vector<std::byte>> bytes;
  wait_for([&] {
    bytes = maybe_recall(name, whose, call);
    return bytes.has_value();
  });
  return *bytes;
}

std::optional<std::vector<std::byte>> ReplicaSubstitution::maybe_recall(const MessageName& name,
                                                                        std::int32_t whose,
                                                                        const char* call,
                                                                        bool* is_of_own_plane) {
  std::vector<std::byte> bytes;
  runtime::MutexLock lock(mutex_);
  recall_.ask(name, whose);
  const Recall::Answer answer = recall_.take(name, bytes, is_of_own_plane);
  lock.unlock();
  if (answer == Recall::Answer::none) return std::nullopt;
  if (answer != Recall::Answer::here)
    end_here(mpi_name_of(call), "waits for a rank of which no replica is left");
  return bytes;
}

std::optional<Recall::Headline> ReplicaSubstitution::first_heard(
    std::int32_t lost, std::uint64_t communicator, std::int32_t tag,
    const std::function<std::uint64_t(const Stream&)>& taken) {
  const runtime::MutexLock lock(mutex_);
  recall_.listen_to(lost);
  return recall_.first_heard(lost, communicator, tag, taken);
}

void ReplicaSubstitution::wait_for(const std::function<bool()>& is_there) {
  runtime::Idle idle{runtime::IdleStrategy{}};
  while (!is_there()) {
    meanwhile();
    idle.pause();
  }
}

void ReplicaSubstitution::wait_until(const std::function<bool(Recall&)>& step) {
  wait_for([&] {
    const runtime::MutexLock lock(mutex_);
    return step(recall_);
  });
}

// Others of this plane may need us before those whom we wait for get as far; and these may wait for
// what was decided here.
void ReplicaSubstitution::meanwhile() {
  peer_planes_->links.drive();
  if (Decided* by = decided.load(std::memory_order_acquire)) by->flush();
  if (also_meanwhile_ != nullptr) also_meanwhile_();
  int flag = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  World::current()->engine().maybe_drive();
  shim::meanwhile();
}

// First all living replicas of this rank, then somebody of every rank. Who is gone has no question
// any more: it is dead, or has heard all this.
VerificationFigures ReplicaSubstitution::finish() {
  peer_planes_->lag.finish();
  peer_planes_->verifier.finish_own([this] { meanwhile(); });
  const auto name_of_end = [](std::int32_t rank) {
    return MessageName{{0, rank, rank, 0, Stream::Of::checkpoints}, 1};
  };
  {
    const runtime::MutexLock lock(mutex_);
    recall_.arrive();
  }
  wait_until([](Recall& recall) { return recall.have_all_arrived(); });
  keep(name_of_end(rank_), {}, {});
  std::vector<std::byte> nothing;
  for (std::int32_t rank = 0; rank < ranks_; ++rank)
    if (rank != rank_)
      wait_until([&](Recall& recall) {
        recall.ask(name_of_end(rank), rank);
        return recall.take(name_of_end(rank), nothing) != Recall::Answer::none;
      });
  // Whoever asks from here on shall see that it is gone, though it may wait for its plane yet.
  peer_planes_->links.leave();
  const VerificationFigures figures{.votes = peer_planes_->verifier.figures(),
                                    .history = peer_planes_->verifier.history()};
  const runtime::MutexLock lock(leaving_);
  peer_planes_.reset();
  return figures;
}

void ReplicaSubstitution::end_here(const std::string& what, const char* why) const {
  std::fprintf(stderr, "resprout: rank %d of plane %d ends: %s %s\n", rank_, plane_, what.c_str(),
               why);
  std::fflush(nullptr);
  for (;;) kill(getpid(), SIGKILL);
}

void end_for_unknown(const char* what) {
  replica_substitution.load()->end_here(
      what, "on a communicator of which other planes do not know meets a loss");
}

}  // namespace resprout::shim

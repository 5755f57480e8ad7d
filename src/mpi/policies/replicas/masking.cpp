#include "mpi/policies/replicas/masking.hpp"

#include <signal.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <utility>

#include "mpi/carriers/started/under_way.hpp"
#include "mpi/policies/replicas/clocks.hpp"
#include "mpi/policies/replicas/compared.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/policies/replicas/lone_calls.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/policies/replicas/room.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/progress_hook.hpp"
#include "runtime/engine.hpp"
#include "runtime/idle.hpp"

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

Masking::Masking(const Options& options, const std::string& address, int rank, int ranks)
    : rank_(rank),
      ranks_(ranks),
      plane_(options.replica),
      verifies_(options.verify.has_value()),
      findings_(findings_setup(options, rank, [this] { return has_living_sibling(); })),
      company_(
          std::in_place, options,
          Company::Setup{
              .meeting = std::filesystem::path(options.run_directory).parent_path().string(),
              .address = address,
              .rank = rank,
              .ranks = ranks,
              .on_finding = [this](const runtime::Finding& finding) { note(finding); },
              .on_process_lost = [this](Replica replica) { lose(replica); },
              .said = [this](const MessageName& name) -> std::optional<std::vector<std::byte>> {
                const std::scoped_lock lock(mutex_);
                const auto* bytes = recall_.find(name);
                return bytes != nullptr ? std::optional(*bytes) : std::nullopt;
              }}),
      recall_({.self = {options.replica, rank}, .planes = options.replicas, .ranks = ranks},
              company_->links) {
  company_->links.listen(runtime::Channel::recalls, [this](Replica from, auto frame) {
    const std::scoped_lock lock(mutex_);
    recall_.handle(from, frame);
  });
  company_->meet();
}

void Masking::lose(int world_rank) {
  const std::scoped_lock lock(leaving_);
  if (company_) lose(Replica{plane_, world_rank});
}

// The thread of the links, which calls it, too, ends before the company.
void Masking::lose(Replica replica) {
  {
    const std::scoped_lock lock(mutex_);
    recall_.lose(replica);
  }
  company_->verifier.lose(replica);
  if (replica.rank != rank_) return;
  company_->decisions.lose_plane(replica.plane);
  company_->lag.lose_plane(replica.plane);
}

// Whoever waits for what nobody has any more says so, and ends: nothing is corrupted.
void Masking::note(const runtime::Finding& finding) {
  const bool is_mere_loss = finding.end == runtime::Finding::End::lost && finding.wrong_planes == 0;
  if (!is_mere_loss) findings_.note(finding);
}

bool Masking::has_living_sibling() {
  const std::scoped_lock lock(mutex_);
  for (std::int32_t plane = 0; plane < recall_.planes(); ++plane)
    if (plane != plane_ && recall_.is_alive({plane, rank_})) return true;
  return false;
}

void Masking::keep(const MessageName& name, std::span<const std::byte> bytes,
                   std::span<const std::int32_t> readers) {
  const std::scoped_lock lock(mutex_);
  recall_.keep(name, bytes, readers);
}

std::vector<std::byte> Masking::said(const MessageName& name) {
  const std::scoped_lock lock(mutex_);
  return recall_.said(name);
}

void Masking::note_received(const MessageName& name) {
  const std::scoped_lock lock(mutex_);
  Received& received = received_[name.stream];
  received.beyond.insert(name.number);
  while (received.beyond.erase(received.all_up_to + 1) != 0) ++received.all_up_to;
  recall_.note_received(name.stream, received.all_up_to);
}

std::uint64_t Masking::next_collective(std::uint64_t communicator) {
  const std::scoped_lock lock(mutex_);
  return ++collectives_[communicator];
}

void Masking::note_collective(std::uint64_t communicator, std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  recall_.note_collective(communicator, number);
}

std::vector<std::byte> Masking::recall(const MessageName& name, std::int32_t whose,
                                       const char* call) {
  std::optional<std::vector<std::byte>> bytes;
  wait_for([&] {
    bytes = maybe_recall(name, whose, call);
    return bytes.has_value();
  });
  return *bytes;
}

std::optional<std::vector<std::byte>> Masking::maybe_recall(const MessageName& name,
                                                            std::int32_t whose, const char* call,
                                                            bool* is_of_own_plane) {
  std::vector<std::byte> bytes;
  std::unique_lock lock(mutex_);
  recall_.ask(name, whose);
  const Recall::Answer answer = recall_.take(name, bytes, is_of_own_plane);
  lock.unlock();
  if (answer == Recall::Answer::none) return std::nullopt;
  if (answer != Recall::Answer::here)
    end_here(mpi_name_of(call), "waits for a rank of which no replica is left");
  return bytes;
}

std::optional<Recall::Headline> Masking::first_heard(
    std::int32_t lost, std::uint64_t communicator, std::int32_t tag,
    const std::function<std::uint64_t(const Stream&)>& taken) {
  const std::scoped_lock lock(mutex_);
  recall_.listen_to(lost);
  return recall_.first_heard(lost, communicator, tag, taken);
}

void Masking::wait_for(const std::function<bool()>& is_there) {
  runtime::Idle idle{runtime::IdleStrategy{}};
  while (!is_there()) {
    meanwhile();
    idle.pause();
  }
}

void Masking::wait_until(const std::function<bool(Recall&)>& step) {
  wait_for([&] {
    const std::scoped_lock lock(mutex_);
    return step(recall_);
  });
}

// Others of this plane may need us before those whom we wait for get as far; and these may wait for
// what was decided here.
void Masking::meanwhile() {
  company_->links.drive();
  if (Decided* by = decided.load(std::memory_order_acquire)) by->flush();
  if (Receives* by = receives()) by->advance();
  int flag = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  World::current()->engine().maybe_drive();
  drive();
}

// First all living replicas of this rank, then somebody of every rank. Who is gone has no question
// any more: it is dead, or has heard all this.
VerificationFigures Masking::finish() {
  company_->lag.finish();
  company_->verifier.finish_own([this] { meanwhile(); });
  const auto name_of_end = [](std::int32_t rank) {
    return MessageName{{0, rank, rank, 0, Stream::Of::checkpoints}, 1};
  };
  {
    const std::scoped_lock lock(mutex_);
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
  company_->links.leave();
  const VerificationFigures figures{.votes = company_->verifier.figures(),
                                    .history = company_->verifier.history()};
  const std::scoped_lock lock(leaving_);
  company_.reset();
  return figures;
}

void Masking::end_here(const std::string& what, const char* why) const {
  std::fprintf(stderr, "resprout: rank %d of plane %d ends: %s %s\n", rank_, plane_, what.c_str(),
               why);
  std::fflush(nullptr);
  for (;;) kill(getpid(), SIGKILL);
}

void end_if_masking(const std::string& what, const char* why) {
  const Masking* by = masking.load(std::memory_order_acquire);
  if (by != nullptr) by->end_here(what, why);
}

std::string mpi_name_of(const char* call) {
  std::string name = std::string("MPI_") + call;
  name[4] = static_cast<char>(std::toupper(name[4]));
  return name;
}

namespace {

struct Open {
  std::unique_ptr<Masking> masking;
  std::unique_ptr<Room> room;  // null: nothing is verified
  Comparing comparing;
  std::unique_ptr<Messages> messages;
  std::unique_ptr<Decided> decided;
  std::unique_ptr<Receives> receives;
};
std::atomic<bool> is_over{false};

// In the library's progress, on a thread that is inside of it.
int look_after_receives() {
  if (Receives* by = receives()) by->advance();
  end_lone_calls_if_lost();
  return 0;
}

Open& open_one() {
  static auto* instance = new Open;
  return *instance;
}

void go_on_with_masking() { open_one().masking->meanwhile(); }

}  // namespace

void open_masking(const Options& options, const std::string& address) {
  if (!options.stands_in()) return;
  Open& open = open_one();
  int rank = 0;
  int ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    open.masking = std::make_unique<Masking>(options, address, rank, ranks);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resprout: replicas cannot meet: %s\n", error.what());
    std::_Exit(2);
  }
  Company& company = open.masking->company();
  Messages::Setup messages{
      .masking = open.masking.get(), .rank = rank, .meanwhile = go_on_with_masking};
  if (options.verify) {
    open.room = std::make_unique<Room>(company.lag, copies_of_a_byte(options), go_on_with_masking);
    messages.verifier = &company.verifier;
    messages.room = open.room.get();
    open.comparing.verifier = &company.verifier;
    open.comparing.room = open.room.get();
    open.comparing.keeps_given = votes_setup(options, rank).keeps_copies;
    open.comparing.lingers = is_lazy(options);
    open.comparing.rank = rank;
    open.comparing.meanwhile = go_on_with_masking;
  }
  open.messages = std::make_unique<Messages>(std::move(messages));
  open.decided = std::make_unique<Decided>(company.decisions, go_on_with_masking);
  open.receives = std::make_unique<Receives>(*open.decided, open.messages.get());
  if (!add_progress_hook(look_after_receives, Rounds::some)) {
    std::fprintf(stderr,
                 "resprout: --on-replica-loss stand-in needs an MPI library that has "
                 "opal_progress_register\n");
    std::_Exit(2);
  }
  masking.store(open.masking.get());
  if (options.verify) comparing.store(&open.comparing);
  verified_messages.store(open.messages.get());
  decided.store(open.decided.get());
  open_clocks();
  decided_receives.store(open.receives.get());
}

bool is_masking_over() { return is_over.load(); }

VerificationFigures close_masking() {
  Open& open = open_one();
  if (open.masking == nullptr) return {};
  close_clocks();
  open.receives->close([&] { open.masking->meanwhile(); });
  decided_receives.store(nullptr);
  remove_progress_hook(look_after_receives);
  open.decided->finish();
  decided.store(nullptr);
  comparing.store(nullptr);
  VerificationFigures figures = open.masking->finish();
  figures.skipped = open.messages->skipped() + open.comparing.skipped.load();
  is_over.store(true);
  verified_messages.store(nullptr);
  masking.store(nullptr);
  return figures;
}

}  // namespace resprout::shim

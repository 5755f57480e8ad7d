#include "mpi/operations/io/account.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "core/random.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/operations/io/plane_files.hpp"
#include "mpi/policies/files/file_note.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/policies/replicas/replica_substitution.hpp"
#include "mpi/process/names.hpp"
#include "runtime/mutex.hpp"
#include "runtime/net/fd.hpp"

namespace resprout::shim {

Account::Account(ReplicaSubstitution& by, std::string filename, std::string path,
                 std::vector<int> world_ranks)
    : by_(by),
      filename_(std::move(filename)),
      path_(std::move(path)),
      world_ranks_(std::move(world_ranks)) {}

std::unique_ptr<Account> Account::of(MPI_Comm comm, std::string filename, std::string path) {
  ReplicaSubstitution* by = replica_substitution.load(std::memory_order_acquire);
  if (by == nullptr) return nullptr;
  std::unique_ptr<Account> account(
      new Account(*by, std::move(filename), std::move(path), communicator_of(comm)->world_ranks));
  if (const auto communicator = name_of(comm)) {
    // As the opening of a file it is one of the communicator's collectives.
    std::uint64_t state = *communicator ^ by->next_collective(*communicator);
    account->name_ = splitmix64(state);
  }
  return account;
}

void Account::begin_opening() {
  begin_with("file_open", static_cast<std::int64_t>(times_alone(filename_)));
}

int Account::catch_up(const std::vector<int>& missing) const {
  for (const int rank : missing) {
    const int world_rank = world_ranks_[static_cast<std::size_t>(rank)];
    const auto up_to = static_cast<std::uint64_t>(number_of(rank));
    if (const int error = shim::catch_up(filename_, world_rank, up_to); error != 0) return error;
  }
  return 0;
}

void Account::note_begun() const {
  shadows()->note_begun(filename_, FileNote::several, name_.value_or(0));
}
void Account::note_closed() const {
  shadows()->note_closed(filename_, FileNote::several, name_.value_or(0));
}

void Account::note_view(MPI_File fh) {
  auto view = View::of(fh);
  const runtime::MutexLock guard(mutex_);
  view_ = std::move(view);
}

void Account::note_written(MPI_Offset at, int count, MPI_Datatype datatype) {
  MPI_Count bytes = 0;
  if (datatype != MPI_DATATYPE_NULL) PMPI_Type_size_x(datatype, &bytes);
  const runtime::MutexLock guard(mutex_);
  if (!view_) return written_.add_somewhere();
  view_->for_each_piece(at, bytes * count,
                        [&](MPI_Offset from, MPI_Offset piece)
                            RESPROUT_NOT_CHECKED { written_.add(from, piece); });
}

void Account::note_written_somewhere() {
  const runtime::MutexLock guard(mutex_);
  written_.add_somewhere();
}

runtime::MessageName Account::name(int world_rank, int part) const {
  using Of = runtime::Stream::Of;
  return {{*name_, world_rank, world_rank, part, Of::contributions}, times_};
}

void Account::begin_anew(const char* call) {
  settle_decisions();
  call_ = call;
  ++times_;
}

void Account::keep(int part, std::span<const std::byte> bytes) {
  if (name_) by_.keep(name(by_.rank(), part), bytes, world_ranks_);
}

void Account::begin(const char* call) {
  begin_anew(call);
  const runtime::MutexLock guard(mutex_);
  int part = 0;
  for (const auto& bytes : written_.take_parts(path_)) keep(part++, bytes);
}

void Account::begin_with(const char* call, std::int64_t number) {
  begin_anew(call);
  keep(0, std::as_bytes(std::span(&number, 1)));
}

std::vector<std::byte> Account::recall(int rank, int part) const {
  if (!name_)
    by_.end_here(mpi_name_of(call_),
                 "is on a communicator of which other planes do not know, and a rank is lost");
  const int world_rank = world_ranks_[static_cast<std::size_t>(rank)];
  return by_.recall(name(world_rank, part), world_rank, call_);
}

int Account::write_for(const std::vector<int>& missing) {
  const runtime::Fd fd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.is_open()) return errno;
  for (const int rank : missing) {
    WrittenPart put;
    for (int part = 0; !put.is_last && put.error == 0; ++part)
      put = put_part(recall(rank, part), fd.get());
    if (put.error != 0) return put.error;
    if (!put.is_all_known) shadows()->note_unfilled(filename_);
  }
  return 0;
}

std::int64_t Account::number_of(int missing) const {
  const auto bytes = recall(missing, 0);
  std::int64_t number = 0;
  std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
  return number;
}

void Account::end() {
  if (name_) by_.note_collective(*name_, times_);
}

}  // namespace resprout::shim

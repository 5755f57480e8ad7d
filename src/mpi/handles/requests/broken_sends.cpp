#include "mpi/handles/requests/broken_sends.hpp"

#include "mpi/handles/communicators/peers.hpp"
#include "mpi/handles/communicators/revocations.hpp"

namespace resprout::shim {

bool may_be_broken_off(MPI_Comm comm) {
  look_for_revocations();
  return is_revoked(comm);
}

BrokenSends::BrokenSends(int count, MPI_Request* requests)
    : BrokenSends(Recalled(is_any_remembered() ? count : 0, requests), requests) {}

bool BrokenSends::is_send(int i) const {
  const auto& was = recalled_[i];
  return was && was->kind == RequestRecord::Kind::send;
}

std::optional<BrokenSends::End> BrokenSends::end_of(int i) {
  const auto& was = recalled_[i];
  if (!was || !was->is_started) return std::nullopt;
  if (was->unsent_code != MPI_SUCCESS) {
    const bool is_there = recalled_.note_completion(i, requests_[i]);
    return End{is_there ? was->comm : MPI_COMM_WORLD, was->unsent_code};
  }
  if (!was->needs_receiver || !recalled_.note_completion(i, requests_[i])) return std::nullopt;
  if (!may_be_broken_off(was->comm)) return std::nullopt;
  return End{was->comm, code_of_loss(was->comm)};
}

int BrokenSends::next_unsent(int first) const {
  for (int i = first; i < recalled_.count(); ++i)
    if (const auto& was = recalled_[i];
        was && was->is_persistent && was->is_started && was->unsent_code != MPI_SUCCESS)
      return i;
  return -1;
}

}  // namespace resprout::shim

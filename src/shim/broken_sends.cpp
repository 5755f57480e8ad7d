#include "shim/broken_sends.hpp"

#include "shim/pending.hpp"
#include "shim/ulfm.hpp"
#include "shim/ulfm/revocations.hpp"

namespace resprout::shim {

bool may_be_broken_off(MPI_Comm comm) {
  look_for_revocations();
  return is_revoked(comm);
}

BrokenSends::BrokenSends(int count, MPI_Request* requests) : requests_(requests) {
  if (count > 0 && is_any_remembered() && ulfm::is_active())
    before_.assign(requests, requests + count);
}

BrokenSends::~BrokenSends() {
  for (std::size_t i = 0; i < before_.size(); ++i)
    if (before_[i] != MPI_REQUEST_NULL && requests_[i] == MPI_REQUEST_NULL) forget(before_[i]);
}

MPI_Comm BrokenSends::broken_by(int i) {
  if (before_.empty()) return MPI_COMM_NULL;
  const MPI_Request before = before_[static_cast<std::size_t>(i)];
  const auto pending = recall(before);
  if (!pending || !pending->needs_receiver || !pending->is_started) return MPI_COMM_NULL;
  note_completion(before, requests_[i]);
  return may_be_broken_off(pending->comm) ? pending->comm : MPI_COMM_NULL;
}

}  // namespace resprout::shim

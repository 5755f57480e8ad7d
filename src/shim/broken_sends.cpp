#include "shim/broken_sends.hpp"

#include "shim/remade/remade.hpp"
#include "shim/ulfm.hpp"
#include "shim/ulfm/revocations.hpp"

namespace resprout::shim {

bool may_be_broken_off(MPI_Comm comm) {
  look_for_revocations();
  return is_revoked(comm);
}

BrokenSends::BrokenSends(int count, MPI_Request* requests)
    : BrokenSends(Recalled(is_any_remembered() && ulfm::is_active() ? count : 0, requests),
                  requests) {}

// On a remade communicator, of whose revocation MPI knows nothing, it breaks off nothing.
MPI_Comm BrokenSends::broken_by(int i) {
  const auto& was = recalled_[i];
  if (!was || !was->needs_receiver || !was->is_started) return MPI_COMM_NULL;
  if (!recalled_.note_completion(i, requests_[i]) || is_remade(was->comm)) return MPI_COMM_NULL;
  return may_be_broken_off(was->comm) ? was->comm : MPI_COMM_NULL;
}

}  // namespace resprout::shim

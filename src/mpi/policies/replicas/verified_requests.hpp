// The requests of a call that completes some, as those know them who look after replicas: messages,
// receives from anybody, collectives, and access to windows.
//
// Thread rule: one thread, from before MPI is asked to the return of the call.
#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/policies/replicas/compared_requests.hpp"
#include "mpi/policies/replicas/lone_calls.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/receives.hpp"

namespace resprout::shim {

class VerifiedRequests {
 public:
  // `requests`: the program's, which MPI may change while this lives.
  VerifiedRequests(int count, const MPI_Request* requests);
  // What MPI has not completed another call may.
  ~VerifiedRequests();
  VerifiedRequests(const VerifiedRequests&) = delete;
  VerifiedRequests& operator=(const VerifiedRequests&) = delete;

  // MPI has said that `count` of several are over: those with `indices`, or the first ones (null).
  // `code` and `statuses`: how. Before the first of them is completed.
  void note_over(int code, int count, const int* indices, const MPI_Status* statuses);
  // MPI has completed the i-th, whose handle is `after` now. How it has ended, if MPI's call could
  // not say so, as it knows a stand-in only (receives.hpp).
  int complete(int i, MPI_Request after, MPI_Status& status);
  // MPI has ended it with this code, as its peer is lost: how it has ended after all.
  int recover(int code, int i, MPI_Request after, MPI_Status& status);

 private:
  struct Claims {
    Messages::Claim message;
    Receives::Claim receive;
    RequestClaim<ComparedRequest> collective;
    RequestClaim<LoneCall> lone;
    bool is_given_back = false;
  };

  Claims& at(int i) { return claims_[static_cast<std::size_t>(i)]; }
  void give_back(int i);

  Messages* messages_;  // null: there is nothing to do
  Receives* receives_ = nullptr;
  const MPI_Request* const requests_;
  std::vector<Claims> claims_;
};

// Of a request that receives hold back (Messages::Setup).
std::optional<Messages::HeldBack> held_back_by_receives(MPI_Request request);

}  // namespace resprout::shim

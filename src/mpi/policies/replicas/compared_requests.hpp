// Collectives of replicated ranks that one call starts and another one completes: MPI_I... and
// persistent ones. As blocking ones (compared.hpp): what a rank gives is compared when the
// collective starts, what it has got when its request is completed, by whichever call. With an
// eager method that call returns when both are verified.
//
// A persistent collective is a new one at each start: it is numbered there, and not by its MPI_...
// _init. Buffers and counts are those of the call that has made the request: MPI reads them there,
// too.
//
// Thread rule: from any thread; one request belongs to one thread at a time, as MPI demands.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "mpi/handles/datatypes/kept_datatype.hpp"
#include "mpi/handles/requests/request_table.hpp"
#include "mpi/policies/replicas/compared.hpp"

namespace resprout::shim {

class SubstitutedCollective;

// Somebody may want to know of started collectives what they mean.
bool are_requests_compared();

// What is kept of it between two calls. Where siblings stand in for who is lost it is completed by
// what they say (substituted_collective.hpp). Or bits are flipped in what it gives, and no more.
class ComparedRequest {
 public:
  // `by`: null: it is not compared; nor is what carries no data. `number`: of a persistent one of
  // its communicator, from 1; 0: it is none.
  ComparedRequest(Comparing* by, MPI_Comm comm, const char* call, const Describe& describe,
                  std::uint64_t number);
  ComparedRequest(const ComparedRequest&) = delete;
  ComparedRequest& operator=(const ComparedRequest&) = delete;

  void start();
  void end();
  bool is_started() const { return is_started_; }
  const std::shared_ptr<SubstitutedCollective>& substituted() const { return substituted_; }

 private:
  void describe_with(const Describe& describe, CallData* call_data);
  void keep_datatypes(std::vector<Piece>& pieces);

  const MPI_Comm comm_;
  const char* const call_;
  std::optional<CallData> to_flip_;
  std::optional<Comparison> comparison_;
  std::shared_ptr<SubstitutedCollective> substituted_;
  std::map<MPI_Datatype, KeptDatatype> datatypes_;  // by the program's
  bool is_started_ = false;
};

// One call of MPI_I..., from entry to return.
class ComparedStart {
 public:
  // MPI is about to be given it. `call`: its lower-case MPI name, a string literal.
  ComparedStart(MPI_Comm comm, const char* call, const Describe& describe);
  // It was not started, or is over already: nobody will complete it.
  ~ComparedStart();
  ComparedStart(const ComparedStart&) = delete;
  ComparedStart& operator=(const ComparedStart&) = delete;

  // MPI has started it.
  void go_on_as(MPI_Request request);
  // Null where nobody stands in.
  std::shared_ptr<SubstitutedCollective> substituted() const {
    return entry_ ? entry_->substituted() : nullptr;
  }

 private:
  std::shared_ptr<ComparedRequest> entry_;
};

// The functions below do nothing for requests of anything else.

// MPI has made a persistent one.
void remember_compared(MPI_Request request, MPI_Comm comm, const char* call,
                       const Describe& describe);
// MPI is about to start it.
void start_compared(MPI_Request request);
// It is one, and siblings stand in for who is lost; else null.
std::shared_ptr<SubstitutedCollective> substituted_collective(MPI_Request request);
// A call is about to have MPI complete it.
RequestClaim<ComparedRequest> claim_compared(MPI_Request request);
// That call goes on with it no more: the handle is `after` now.
void give_back_compared(const RequestClaim<ComparedRequest>& claim, MPI_Request after);
// MPI has completed it, and its handle is `after` now.
void complete_compared(const RequestClaim<ComparedRequest>& claim, MPI_Request after);
// The program has freed it.
void forget_compared(MPI_Request request);

// Some were started, and are not completed.
bool is_any_compared_under_way();

}  // namespace resprout::shim

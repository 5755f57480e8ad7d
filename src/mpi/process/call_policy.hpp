// What is done about a loss beside the call that it falls into. Chosen in MPI_Init, by who has a
// policy (policies/); until then, and in most jobs, nothing is.
//
// Thread rule: from any thread.
#pragma once

#include <string>

namespace resprout::shim {

class CallPolicy {
 public:
  // Others stand in for who is lost: a loss is no error of the call that it falls into.
  virtual bool stands_in() const { return false; }
  // A call has met a loss for which nobody can stand in. Does not return where anybody would.
  // `what`: "MPI_Recv", say; `why`: the end of the sentence.
  virtual void on_failure(const std::string& /*what*/, const char* /*why*/) const {}

 protected:
  ~CallPolicy() = default;
};

const CallPolicy& call_policy();
// Null: nothing is done any more.
void choose_call_policy(const CallPolicy* policy);

}  // namespace resprout::shim

// The error codes of losses. Thread rule: from any thread.
#pragma once

namespace resprout::shim {

// The code of MPIX_ERR_PROC_FAILED, also where the MPI has none.
int proc_failed();
// The class of an error code.
int class_of(int code);
// It is an error of the kind that a lost process causes (PROC_FAILED, PENDING, REVOKED).
bool is_loss(int code);
// It is PROC_FAILED_PENDING: a wildcard receive that could go on once the loss is acknowledged.
bool is_pending(int code);
bool is_revoked(int code);

}  // namespace resprout::shim

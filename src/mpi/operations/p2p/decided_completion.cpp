#include "mpi/operations/p2p/decided_completion.hpp"

#include <algorithm>
#include <optional>

#include "mpi/operations/guarded_call.hpp"
#include "mpi/policies/replicas/decided.hpp"

namespace resprout::shim {
namespace {

using Call = Decided::Call;
using Indices = Decided::Indices;

Decided* decider() { return decided.load(std::memory_order_acquire); }

// What MPI gives where all requests are inactive.
int complete_none(int& index, MPI_Status& status) {
  MPI_Request none = MPI_REQUEST_NULL;
  index = MPI_UNDEFINED;
  return PMPI_Wait(&none, &status);
}

int complete_same(const GuardedCall& call, Requests requests, const Indices& same, int& index,
                  MPI_Status& status) {
  if (same.empty()) return complete_none(index, status);
  index = same.front();
  return wait_one(call, requests[index], status);
}

int complete_same(const GuardedCall& call, Requests requests, const Indices& same, int& outcount,
                  int* indices, Statuses& statuses) {
  outcount = same.empty() ? MPI_UNDEFINED : static_cast<int>(same.size());
  std::copy(same.begin(), same.end(), indices);
  bool has_error = false;
  for (std::size_t k = 0; k < same.size(); ++k) {
    const int at = static_cast<int>(k);
    statuses[at].MPI_ERROR = wait_one(call, requests[same[k]], statuses[at]);
    has_error |= statuses[at].MPI_ERROR != MPI_SUCCESS;
  }
  return has_error ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

Indices one(int index) { return index == MPI_UNDEFINED ? Indices{} : Indices{index}; }

Indices some(int outcount, const int* indices) {
  return outcount == MPI_UNDEFINED ? Indices{} : Indices(indices, indices + outcount);
}

}  // namespace

int test_same(const GuardedCall& call, MPI_Request& request, int& flag, MPI_Status& status) {
  Decided* by = decider();
  if (by == nullptr) return test_one(call, request, flag, status);
  int code = MPI_SUCCESS;
  const auto done = by->test(Call::test, [&]() -> std::optional<Indices> {
    code = test_one(call, request, flag, status);
    return flag != 0 ? std::optional(Indices{0}) : std::nullopt;
  });
  flag = done ? 1 : 0;
  return done && !done->is_own ? wait_one(call, request, status) : code;
}

int test_same_all(const GuardedCall& call, Requests requests, int& flag, Statuses& statuses) {
  Decided* by = decider();
  if (by == nullptr) return test_all(call, requests, flag, statuses);
  int code = MPI_SUCCESS;
  const auto done = by->test(Call::testall, [&]() -> std::optional<Indices> {
    code = test_all(call, requests, flag, statuses);
    return flag != 0 ? std::optional(Indices{}) : std::nullopt;
  });
  flag = done ? 1 : 0;
  return done && !done->is_own ? wait_all(call, requests, statuses) : code;
}

int test_same_any(const GuardedCall& call, Requests requests, int& index, int& flag,
                  MPI_Status& status) {
  Decided* by = decider();
  if (by == nullptr) return test_any(call, requests, index, flag, status);
  int code = MPI_SUCCESS;
  const auto done = by->test(Call::testany, [&]() -> std::optional<Indices> {
    code = test_any(call, requests, index, flag, status);
    return flag != 0 ? std::optional(one(index)) : std::nullopt;
  });
  flag = done ? 1 : 0;
  if (!done) index = MPI_UNDEFINED;
  if (!done || done->is_own) return code;
  return complete_same(call, requests, done->indices, index, status);
}

int test_same_some(const GuardedCall& call, Requests requests, int& outcount, int* indices,
                   Statuses& statuses) {
  Decided* by = decider();
  if (by == nullptr) return test_some(call, requests, outcount, indices, statuses);
  int code = MPI_SUCCESS;
  const auto done = by->test(Call::testsome, [&]() -> std::optional<Indices> {
    code = test_some(call, requests, outcount, indices, statuses);
    return outcount != 0 ? std::optional(some(outcount, indices)) : std::nullopt;
  });
  if (!done) outcount = 0;
  if (!done || done->is_own) return code;
  return complete_same(call, requests, done->indices, outcount, indices, statuses);
}

int wait_same_any(const GuardedCall& call, Requests requests, int& index, MPI_Status& status) {
  Decided* by = decider();
  if (by == nullptr) return wait_any(call, requests, index, status);
  int code = MPI_SUCCESS;
  const Decided::Completed done = by->wait(Call::waitany, [&] {
    code = wait_any(call, requests, index, status);
    return one(index);
  });
  return done.is_own ? code : complete_same(call, requests, done.indices, index, status);
}

int wait_same_some(const GuardedCall& call, Requests requests, int& outcount, int* indices,
                   Statuses& statuses) {
  Decided* by = decider();
  if (by == nullptr) return wait_some(call, requests, outcount, indices, statuses);
  int code = MPI_SUCCESS;
  const Decided::Completed done = by->wait(Call::waitsome, [&] {
    code = wait_some(call, requests, outcount, indices, statuses);
    return some(outcount, indices);
  });
  return done.is_own ? code
                     : complete_same(call, requests, done.indices, outcount, indices, statuses);
}

}  // namespace resprout::shim

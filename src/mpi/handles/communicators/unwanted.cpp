#include "mpi/handles/communicators/unwanted.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/mutex.hpp"
#include "runtime/net/clock.hpp"

namespace resprout::shim {
namespace detail {
std::atomic<bool> is_any_unwanted{false};
}

namespace {

// Senders wait for it, but each look makes the MPI library look, too.
constexpr std::int64_t between_looks_ns = 500'000;

struct Taken {
  MPI_Request request;
  std::unique_ptr<std::byte[]> bytes;
};

// Never destroyed: MPI may still write to what was not received to its end. Who takes makes
// progress in MPI, and may come to add one.
struct Unwanted {
  runtime::Mutex mutex;  // of `comms`
  std::vector<MPI_Comm> comms RESPROUT_GUARDED_BY(mutex);
  runtime::Mutex taking;
  std::vector<Taken> taken RESPROUT_GUARDED_BY(taking);  // not to its end
  std::int64_t next_look_ns RESPROUT_GUARDED_BY(taking) = 0;
};

Unwanted& unwanted() {
  static auto* instance = new Unwanted;
  return *instance;
}

RESPROUT_FAST_THREAD_LOCAL bool is_looking = false;  // receiving makes progress, which looks

// Nothing: there are not so many. One that is removed meanwhile may hide another one once.
std::optional<MPI_Comm> comm_at(std::size_t i) {
  const runtime::MutexLock guard(unwanted().mutex);
  return i < unwanted().comms.size() ? std::optional(unwanted().comms[i]) : std::nullopt;
}

// Where `source` has something of a tag that may be taken.
std::optional<MPI_Status> look_for(MPI_Comm comm, int source) {
  int is_there = 0;
  MPI_Status status;
  int code = PMPI_Iprobe(source, MPI_ANY_TAG, comm, &is_there, &status);
  if (is_loss(code)) {
    ulfm::acknowledge(comm);
    code = PMPI_Iprobe(source, MPI_ANY_TAG, comm, &is_there, &status);
  }
  if (code != MPI_SUCCESS || is_there == 0) return std::nullopt;
  return status;
}

// Behind the last message of one member there is nothing more of it, but there may be of others.
std::optional<MPI_Status> find_in(MPI_Comm comm) {
  auto found = look_for(comm, MPI_ANY_SOURCE);
  if (!found || found->MPI_TAG != last_tag_of_drain) return found;
  int size = 0;
  PMPI_Comm_size(comm, &size);
  for (int source = 0; source < size; ++source) {
    found = look_for(comm, source);
    if (found && found->MPI_TAG != last_tag_of_drain) return found;
  }
  return std::nullopt;
}

bool maybe_take_one(MPI_Comm comm, std::vector<Taken>& taken) {
  const auto found = find_in(comm);
  if (!found) return false;
  int is_there = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  if (PMPI_Improbe(found->MPI_SOURCE, found->MPI_TAG, comm, &is_there, &message, &status) !=
          MPI_SUCCESS ||
      is_there == 0)
    return false;
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  Taken& last = taken.emplace_back(MPI_REQUEST_NULL, std::make_unique_for_overwrite<std::byte[]>(
                                                         static_cast<std::size_t>(bytes)));
  return receive_bytes(last.bytes.get(), bytes, message, last.request) == MPI_SUCCESS;
}

// What a loss has ended is kept: part of it may still be on its way.
void advance(std::vector<Taken>& taken) {
  std::erase_if(taken, [](Taken& one) {
    if (one.request == MPI_REQUEST_NULL) return false;
    int is_done = 0;
    return PMPI_Test(&one.request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_done != 0;
  });
}

}  // namespace

void throw_away(MPI_Comm comm) {
  Unwanted& all = unwanted();
  const runtime::MutexLock guard(all.mutex);
  if (std::ranges::find(all.comms, comm) == all.comms.end()) all.comms.push_back(comm);
  detail::is_any_unwanted.store(true, std::memory_order_relaxed);
}

void stop_throwing_away(MPI_Comm comm) {
  Unwanted& all = unwanted();
  {
    const runtime::MutexLock guard(all.mutex);
    if (std::erase(all.comms, comm) == 0) return;
  }
  const runtime::MutexLock guard(all.taking);
}

void detail::take_unwanted() {
  if (is_looking) return;
  Unwanted& all = unwanted();
  if (!all.taking.try_lock()) return;
  const runtime::MutexLock lock(all.taking, std::adopt_lock);
  const std::int64_t now_ns = runtime::monotonic_ns();
  if (now_ns < all.next_look_ns) return;
  is_looking = true;
  const QuietErrors quiet;
  for (std::size_t i = 0; const auto comm = comm_at(i); ++i)
    while (maybe_take_one(*comm, all.taken)) {
    }
  advance(all.taken);
  all.next_look_ns = runtime::monotonic_ns() + between_looks_ns;
  is_looking = false;
}

int receive_bytes(std::byte* into, MPI_Count bytes, MPI_Message& message, MPI_Request& request) {
  constexpr MPI_Count part = MPI_Count{1} << 30;
  if (bytes <= part)
    return PMPI_Imrecv(into, static_cast<int>(bytes), MPI_BYTE, &message, &request);
  MPI_Datatype large = MPI_DATATYPE_NULL;
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(static_cast<int>(part), MPI_BYTE, &large);
  const std::array<int, 2> counts{static_cast<int>(bytes / part), static_cast<int>(bytes % part)};
  const std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(bytes / part * part)};
  const std::array<MPI_Datatype, 2> types{large, MPI_BYTE};
  PMPI_Type_create_struct(2, counts.data(), places.data(), types.data(), &whole);
  PMPI_Type_commit(&whole);
  const int code = PMPI_Imrecv(into, 1, whole, &message, &request);
  PMPI_Type_free(&whole);
  PMPI_Type_free(&large);
  return code;
}

}  // namespace resprout::shim

#include "mpi/policies/replicas/compared_writes.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/policies/digests/digest.hpp"
#include "mpi/policies/replicas/compared.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

using runtime::Stream;

struct Writes {
  std::uint64_t communicator = 0;  // its name
  WriteSum sum = {};
};
// Never destroyed: threads may be here at the end.
struct AllWrites {
  runtime::Mutex mutex;
  std::unordered_map<MPI_File, Writes> by_file RESPROUT_GUARDED_BY(mutex);
};

AllWrites& all_writes() {
  static auto* instance = new AllWrites;
  return *instance;
}

bool is_compared(MPI_File fh) {
  if (comparing.load(std::memory_order_acquire) == nullptr) [[likely]]
    return false;
  const runtime::MutexLock lock(all_writes().mutex);
  return all_writes().by_file.contains(fh);
}

enum class At : std::uint64_t { place, somewhere, size };

// `where`: in bytes.
void note(MPI_File fh, At how, MPI_Offset where, const WrittenData& data) {
  const Layout layout = data.datatype == MPI_DATATYPE_NULL || data.count <= 0
                            ? Layout{}
                            : layout_of(data.datatype, data.count);
  const bool is_any = layout.packed_bytes > 0;
  if (!is_any && how != At::size) return;
  const std::array<std::uint64_t, 3> words{is_any ? digest_of(data.buffer, layout).low : 0,
                                           static_cast<std::uint64_t>(how),
                                           static_cast<std::uint64_t>(where)};
  const std::uint64_t digest = digest_of_packed(std::as_bytes(std::span(words))).low;
  const runtime::MutexLock lock(all_writes().mutex);
  const auto found = all_writes().by_file.find(fh);
  if (found == all_writes().by_file.end()) return;
  found->second.sum.digest += digest;
  found->second.sum.bytes += layout.packed_bytes;
}

void compare(Comparing& by, const Writes& writes, const char* call) {
  settle_decisions();
  if (by.lag_limiter != nullptr) by.lag_limiter->wait_for_collective();
  const std::uint64_t number = by.next_number(writes.communicator);
  // A collective is two things that are compared: numbers have no gaps.
  for (const Stream::Of of : {Stream::Of::contributions, Stream::Of::results}) {
    const runtime::MessageName name{{writes.communicator, by.rank, by.rank, 0, of}, number};
    const bool is_what_was_written = of == Stream::Of::results;
    const std::uint64_t bytes = is_what_was_written ? writes.sum.bytes : 0;
    if (by.lag_limiter != nullptr) by.lag_limiter->count_compared();
    by.verifier->compare({name, call, bytes, nullptr}, is_what_was_written ? writes.sum.digest : 0,
                         !by.is_lazy);
    if (!by.is_lazy) by.verifier->wait(name, by.meanwhile);
    if (!by.is_lazy && by.lingers) by.meanwhile();
  }
}

}  // namespace

void begin_comparing_writes(MPI_File fh, MPI_Comm comm) {
  Comparing* by = comparing.load(std::memory_order_acquire);
  if (by == nullptr) return;
  const auto name = name_of(comm);
  if (!name) {
    by->skipped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const runtime::MutexLock lock(all_writes().mutex);
  all_writes().by_file[fh] = {.communicator = *name};
}

void note_write_at(MPI_File fh, MPI_Offset at, const WrittenData& data) {
  if (!is_compared(fh)) return;
  MPI_Offset byte = 0;
  if (PMPI_File_get_byte_offset(fh, at, &byte) == MPI_SUCCESS) note(fh, At::place, byte, data);
}

void note_write_here(MPI_File fh, const WrittenData& data) {
  if (!is_compared(fh)) return;
  MPI_Offset at = 0;
  if (PMPI_File_get_position(fh, &at) == MPI_SUCCESS) note_write_at(fh, at, data);
}

void note_write_somewhere(MPI_File fh, const WrittenData& data) {
  if (is_compared(fh)) note(fh, At::somewhere, 0, data);
}

void note_new_size(MPI_File fh, MPI_Offset size) {
  if (is_compared(fh)) note(fh, At::size, size, {});
}

void compare_writes(MPI_File fh, const char* call) {
  Comparing* by = comparing.load(std::memory_order_acquire);
  if (by == nullptr) return;
  Writes writes;
  {
    const runtime::MutexLock lock(all_writes().mutex);
    const auto found = all_writes().by_file.find(fh);
    if (found == all_writes().by_file.end()) return;
    writes = found->second;
    found->second = {.communicator = writes.communicator};
  }
  compare(*by, writes, call);
}

void end_comparing_writes(MPI_File fh, const char* call) {
  compare_writes(fh, call);
  const runtime::MutexLock lock(all_writes().mutex);
  all_writes().by_file.erase(fh);
}

WriteSums write_sums() {
  const runtime::MutexLock lock(all_writes().mutex);
  WriteSums sums;
  for (const auto& [file, writes] : all_writes().by_file) sums[file] = writes.sum;
  return sums;
}

void set_write_sums(const WriteSums& sums) {
  const runtime::MutexLock lock(all_writes().mutex);
  for (auto& [file, writes] : all_writes().by_file)
    if (const auto found = sums.find(file); found != sums.end()) writes.sum = found->second;
}

void forget_write_sums() {
  const runtime::MutexLock lock(all_writes().mutex);
  for (auto& [file, writes] : all_writes().by_file) writes.sum = {};
}

}  // namespace resprout::shim

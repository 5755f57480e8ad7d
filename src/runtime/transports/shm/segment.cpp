#include "runtime/transports/shm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/death_marks/death_marks.hpp"
#include "runtime/mutex.hpp"
#include "runtime/notice_board.hpp"
#include "runtime/slot_pool_memory.hpp"

namespace resprout::runtime {
namespace {

struct SegmentHeader {
  std::uint64_t magic;
  ShmSizes sizes;
};
constexpr std::uint64_t magic = 0x3830747270736572u;  // "resprt08"

constexpr std::size_t page = 4096;
constexpr std::size_t header_bytes = page;
constexpr std::size_t line = 64;
constexpr std::size_t bell_offset = header_bytes;
constexpr std::size_t board_offset = bell_offset + page;
constexpr std::size_t ranks_max = 4096;
constexpr std::size_t death_marks_offset = board_offset + NoticeBoard::bytes;
constexpr std::size_t leavers_offset = death_marks_offset + ranks_max * DeathMarks::bytes_each;
constexpr std::size_t bitmaps_offset = leavers_offset + ranks_max;

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}
std::size_t bitmap_stride(const ShmSizes& sizes) {
  return round_up((sizes.local_ranks + 63) / 64 * 8, line);
}
std::size_t shared_slots_offset(const ShmSizes& sizes) {
  return round_up(bitmaps_offset + sizes.local_ranks * bitmap_stride(sizes), page);
}
std::size_t rings_offset(const ShmSizes& sizes) {
  return shared_slots_offset(sizes) + round_up(SlotPoolMemory::bytes(sizes.local_ranks), page);
}
// A line for what the receiver has consumed, then the ring itself.
std::size_t ring_stride(const ShmSizes& sizes) {
  return round_up(line + std::size_t{sizes.ring_bytes}, page);
}
std::size_t arenas_offset(const ShmSizes& sizes) {
  return rings_offset(sizes) +
         std::size_t{sizes.local_ranks} * sizes.local_ranks * ring_stride(sizes);
}
std::size_t total_bytes(const ShmSizes& sizes) {
  return arenas_offset(sizes) + sizes.local_ranks * sizes.arena_bytes;
}

bool is_sane(const ShmSizes& sizes) {
  return sizes.local_ranks >= 1 && sizes.local_ranks <= ranks_max && sizes.ring_bytes >= page &&
         sizes.ring_bytes <= (1u << 24) && std::has_single_bit(sizes.ring_bytes) &&
         sizes.arena_bytes % page == 0 && sizes.arena_bytes <= (std::uint64_t{1} << 40);
}

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), "shared memory: " + what);
}

// What may still be mapped of a limited address space; the program needs most of it.
constexpr std::uint64_t own_share = 4;

std::uint64_t limit_of(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return RLIM_INFINITY;
  return limit.rlim_cur;
}

// All segments of this process. Never destroyed.
struct Segments {
  Mutex mutex;
  std::vector<const ShmSegment*> all RESPROUT_GUARDED_BY(mutex);
};

Segments& segments() {
  static auto* instance = new Segments;
  return *instance;
}

}  // namespace

ShmSizes within_limits(ShmSizes sizes) {
  const std::uint64_t space = limit_of(RLIMIT_AS);
  const std::uint64_t file = limit_of(RLIMIT_FSIZE);
  const std::uint64_t bytes = std::min(space == RLIM_INFINITY ? space : space / own_share, file);
  if (bytes == RLIM_INFINITY || total_bytes(sizes) <= bytes) return sizes;
  const std::uint64_t others = arenas_offset(sizes);
  sizes.arena_bytes = bytes <= others ? 0 : (bytes - others) / sizes.local_ranks / page * page;
  return sizes;
}

std::unique_ptr<ShmSegment> ShmSegment::create(const ShmSizes& sizes) {
  if (!is_sane(sizes)) fail(EINVAL, "sizes");
  // ftruncate would end this process.
  if (total_bytes(sizes) > limit_of(RLIMIT_FSIZE)) fail(EFBIG, "the limit of file sizes");
  Fd fd(memfd_create("resprout", MFD_CLOEXEC));
  if (!fd.is_open()) fail(errno, "memfd_create");
  if (ftruncate(fd.get(), static_cast<off_t>(total_bytes(sizes))) != 0) fail(errno, "ftruncate");
  const SegmentHeader header{magic, sizes};
  if (pwrite(fd.get(), &header, sizeof header, 0) != sizeof header) fail(errno, "write");
  std::unique_ptr<ShmSegment> segment(new ShmSegment(std::move(fd), sizes));
  segment->has_name_ = true;
  return segment;
}

std::unique_ptr<ShmSegment> ShmSegment::attach(const std::string& name) {
  Fd fd(open(name.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.is_open()) fail(errno, "open " + name);
  SegmentHeader header;
  struct stat status;
  if (pread(fd.get(), &header, sizeof header, 0) != sizeof header || header.magic != magic ||
      !is_sane(header.sizes) || fstat(fd.get(), &status) != 0 ||
      static_cast<std::size_t>(status.st_size) != total_bytes(header.sizes))
    fail(EINVAL, name + " is no segment");
  return std::unique_ptr<ShmSegment>(new ShmSegment(std::move(fd), header.sizes));
}

ShmSegment::ShmSegment(Fd fd, const ShmSizes& sizes) : sizes_(sizes), fd_(std::move(fd)) {
  void* base = mmap(nullptr, total_bytes(sizes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                    fd_.get(), 0);
  if (base == MAP_FAILED) fail(errno, "mmap");
  base_ = static_cast<std::byte*>(base);
  madvise(base, total_bytes(sizes), MADV_DONTDUMP);
  const MutexLock guard(segments().mutex);
  segments().all.push_back(this);
}

ShmSegment::~ShmSegment() {
  {
    const MutexLock guard(segments().mutex);
    std::erase(segments().all, this);
  }
  munmap(base_, total_bytes(sizes_));
}

// In one step, also for threads that are just writing.
bool ShmSegment::withdraw() const {
  return mmap(base_, total_bytes(sizes_), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd_.get(), 0) == base_;
}

bool ShmSegment::withdraw_from_all() {
  const MutexLock guard(segments().mutex);
  return std::ranges::all_of(segments().all,
                             [](const ShmSegment* segment) { return segment->withdraw(); });
}

// Not through the memory, of which this process has its own by now. What cannot be said here is
// seen when it ends.
void ShmSegment::note_withdrawn(std::uint32_t rank) const {
  const std::byte yes{1};
  [[maybe_unused]] const ssize_t written =
      pwrite(fd_.get(), &yes, sizeof yes, static_cast<off_t>(leavers_offset + rank));
}

bool ShmSegment::has_withdrawn(std::uint32_t rank) const {
  return std::atomic_ref(base_[leavers_offset + rank]).load(std::memory_order_acquire) !=
         std::byte{0};
}

std::string ShmSegment::name() const {
  if (!has_name_) return {};
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_.get());
}

// Under another number it is found by nobody who was told its name.
void ShmSegment::unlink() {
  if (!std::exchange(has_name_, false)) return;
  fd_ = Fd(fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
}

std::byte* ShmSegment::bell() const { return base_ + bell_offset; }
std::byte* ShmSegment::board() const { return base_ + board_offset; }
std::byte* ShmSegment::death_marks() const { return base_ + death_marks_offset; }

std::byte* ShmSegment::bitmap(std::uint32_t receiver) const {
  return base_ + bitmaps_offset + receiver * bitmap_stride(sizes_);
}

std::byte* ShmSegment::shared_slots() const { return base_ + shared_slots_offset(sizes_); }

std::byte* ShmSegment::ring(std::uint32_t sender, std::uint32_t receiver) const {
  const std::size_t index = std::size_t{sender} * sizes_.local_ranks + receiver;
  return base_ + rings_offset(sizes_) + index * ring_stride(sizes_);
}

std::byte* ShmSegment::arena(std::uint32_t rank) const {
  return base_ + arenas_offset(sizes_) + rank * sizes_.arena_bytes;
}

}  // namespace resprout::runtime

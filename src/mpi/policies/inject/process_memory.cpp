#include "mpi/policies/inject/process_memory.hpp"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace resprout::shim {
namespace {

using Area = Fault::Area;

// Bytes [begin, end) that are there.
struct Pages {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  Area area = Area::process;
};

std::string own_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

// A line of /proc/self/maps.
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_writable = false;
  bool is_private = false;
  std::string name;
};

std::vector<Mapping> mappings() {
  std::vector<Mapping> all;
  std::FILE* file = std::fopen("/proc/self/maps", "r");
  if (file == nullptr) return all;
  std::array<char, PATH_MAX + 128> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), file) != nullptr) {
    unsigned long begin = 0;
    unsigned long end = 0;
    std::array<char, 5> rights{};
    int name_at = 0;
    // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): the kernel wrote it.
    if (std::sscanf(line.data(), "%lx-%lx %4s %*s %*s %*s %n", &begin, &end, rights.data(),
                    &name_at) < 3)
      continue;
    std::string_view name = line.data() + name_at;
    if (name.ends_with('\n')) name.remove_suffix(1);
    all.push_back({begin, end, rights[1] == 'w', rights[3] == 'p', std::string(name)});
  }
  std::fclose(file);
  return all;
}

// What stands behind the data of a file, without a name, is its data that begin as zeros.
Area area_of(const Mapping& mapping, const Mapping* before, std::string_view program) {
  if (mapping.name == "[stack]") return Area::stack;
  if (mapping.name == "[heap]") return Area::heap;
  std::string_view name = mapping.name;
  if (name.empty() && before != nullptr && before->end == mapping.begin) name = before->name;
  if (name.empty() || name.starts_with('[')) return Area::heap;
  return name == program ? Area::data : Area::process;
}

// The pages of a piece that are in memory.
void add_present(Pages piece, int pagemap, std::vector<Pages>& present) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  constexpr std::uint64_t is_present = std::uint64_t{1} << 63;
  std::array<std::uint64_t, 512> entries{};
  for (std::uintptr_t at = piece.begin / page * page; at < piece.end;) {
    const std::size_t pages = std::min((piece.end - at + page - 1) / page, entries.size());
    const auto offset = static_cast<off_t>(at / page * sizeof(std::uint64_t));
    const auto bytes = static_cast<ssize_t>(pages * sizeof(std::uint64_t));
    if (pread(pagemap, entries.data(), static_cast<std::size_t>(bytes), offset) != bytes) return;
    for (const std::uint64_t entry : std::span(entries).first(pages)) {
      if ((entry & is_present) != 0)
        present.push_back({std::max(at, piece.begin), std::min(at + page, piece.end), piece.area});
      at += page;
    }
  }
}

std::vector<Pages> present_pieces(Area wanted) {
  std::vector<Pages> present;
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return present;
  const std::string program = own_program();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::vector<Mapping> all = mappings();
  for (const Mapping& mapping : all) {
    if (!mapping.is_writable || !mapping.is_private) continue;
    const Mapping* before = &mapping == all.data() ? nullptr : &mapping - 1;
    Pages piece{mapping.begin, mapping.end, area_of(mapping, before, program)};
    if (wanted != Area::process && wanted != piece.area) continue;
    const bool is_own_stack = mapping.begin <= here && here < mapping.end;
    if (is_own_stack) piece.begin = here;
    add_present(piece, pagemap, present);
  }
  close(pagemap);
  return present;
}

// Not by an access of ours, which would end the process if the page has gone meanwhile.
bool flip_at(std::uintptr_t address, unsigned bit) {
  const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (memory < 0) return false;
  unsigned char byte = 0;
  const auto at = static_cast<off_t>(address);
  bool is_done = pread(memory, &byte, 1, at) == 1;
  byte ^= static_cast<unsigned char>(1U << bit);
  is_done = is_done && pwrite(memory, &byte, 1, at) == 1;
  close(memory);
  return is_done;
}

}  // namespace

std::optional<FlippedBit> flip_in_process(Area area, std::uint64_t bit) {
  const std::vector<Pages> present = present_pieces(area);
  std::uint64_t bytes = 0;
  for (const Pages& piece : present) bytes += piece.end - piece.begin;
  if (bytes == 0) return std::nullopt;
  FlippedBit flipped{area, 0, bit % (bytes * CHAR_BIT), bytes};
  std::uint64_t byte = flipped.bit / CHAR_BIT;
  for (const Pages& piece : present) {
    const std::uint64_t size = piece.end - piece.begin;
    if (byte < size) {
      flipped.area = piece.area;
      flipped.address = piece.begin + byte;
      break;
    }
    byte -= size;
  }
  const bool is_done = flip_at(flipped.address, static_cast<unsigned>(flipped.bit % CHAR_BIT));
  return is_done ? std::optional(flipped) : std::nullopt;
}

}  // namespace resprout::shim

#include "mpi/lifecycle/interposing/loaded_object.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

// Addresses are numbers in ELF's tables.
// NOLINTBEGIN(performance-no-int-to-ptr)
namespace resprout::shim {
namespace {

#if defined(__x86_64__)
constexpr bool is_known_processor = true;
bool is_address_of_symbol(std::uint64_t type) {
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}
#elif defined(__aarch64__)
constexpr bool is_known_processor = true;
bool is_address_of_symbol(std::uint64_t type) {
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64;
}
#else
constexpr bool is_known_processor = false;
bool is_address_of_symbol(std::uint64_t) { return false; }
#endif

std::uintptr_t page_of(std::uintptr_t address) {
  static const auto bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return address & ~(bytes - 1);
}

int protection_of_flags(ElfW(Word) flags) {
  return ((flags & PF_R) != 0 ? PROT_READ : 0) | ((flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((flags & PF_X) != 0 ? PROT_EXEC : 0);
}

}  // namespace

bool LoadedObject::can_rewire() { return is_known_processor; }

std::vector<LoadedObject> LoadedObject::all() {
  std::vector<LoadedObject> objects;
  const auto add = [](dl_phdr_info* info, std::size_t, void* into) {
    const std::span headers(info->dlpi_phdr, info->dlpi_phnum);
    const bool is_dynamic = std::any_of(headers.begin(), headers.end(), [](const auto& header) {
      return header.p_type == PT_DYNAMIC;
    });
    // What the kernel itself maps has nothing that is of interest, and is not relocated.
    const std::string_view name = info->dlpi_name;
    if (is_dynamic && !name.starts_with("linux-"))
      static_cast<std::vector<LoadedObject>*>(into)->emplace_back(*info);
    return 0;
  };
  dl_iterate_phdr(add, &objects);
  return objects;
}

LoadedObject::LoadedObject(const dl_phdr_info& info)
    : path_(info.dlpi_name), base_(info.dlpi_addr) {
  const ElfW(Dyn)* entry = nullptr;
  for (const auto& header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    const std::uintptr_t begin = base_ + header.p_vaddr;
    if (header.p_type == PT_LOAD)
      segments_.push_back({begin, begin + header.p_memsz, protection_of_flags(header.p_flags)});
    if (header.p_type == PT_GNU_RELRO)
      made_read_only_ = {page_of(begin), page_of(begin + header.p_memsz), PROT_READ};
    if (header.p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(begin);
  }
  const std::uint32_t* gnu_hash = nullptr;
  const ElfW(Rela)* relocations = nullptr;
  const ElfW(Rela)* jumps = nullptr;
  std::size_t relocation_bytes = 0;
  std::size_t jump_bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols_ = at<ElfW(Sym)>(value);
    if (entry->d_tag == DT_STRTAB) names_ = at<const char>(value);
    if (entry->d_tag == DT_GNU_HASH) gnu_hash = at<const std::uint32_t>(value);
    if (entry->d_tag == DT_HASH) symbol_count_ = at<const std::uint32_t>(value)[1];
    if (entry->d_tag == DT_RELA) relocations = at<const ElfW(Rela)>(value);
    if (entry->d_tag == DT_RELASZ) relocation_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) jumps = at<const ElfW(Rela)>(value);
    if (entry->d_tag == DT_PLTRELSZ) jump_bytes = entry->d_un.d_val;
  }
  if (symbol_count_ == 0 && gnu_hash != nullptr) count_symbols(gnu_hash);
  if (relocations != nullptr) relocations_ = {relocations, relocation_bytes / sizeof *relocations};
  if (jumps != nullptr) jumps_ = {jumps, jump_bytes / sizeof *jumps};
}

// The loader has made addresses of most of these, and left others as they are in the file.
template <typename T>
T* LoadedObject::at(ElfW(Addr) address) const {
  return reinterpret_cast<T*>(address < base_ ? base_ + address : address);
}

// The table has buckets of chains of symbols in order; the last symbol ends the last chain.
void LoadedObject::count_symbols(const std::uint32_t* gnu_hash) {
  const std::uint32_t bucket_count = gnu_hash[0];
  const std::uint32_t first = gnu_hash[1];
  const std::uint32_t filter_words = gnu_hash[2];
  const std::uint32_t* buckets = gnu_hash + 4 + filter_words * (sizeof(ElfW(Addr)) / 4);
  const std::uint32_t* chains = buckets + bucket_count;
  std::uint32_t last = 0;
  for (const std::uint32_t bucket : std::span(buckets, bucket_count)) last = std::max(last, bucket);
  if (last < first) {
    symbol_count_ = first;
    return;
  }
  while ((chains[last - first] & 1) == 0) ++last;
  symbol_count_ = last + 1;
}

bool LoadedObject::contains(const void* address) const {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  return std::any_of(segments_.begin(), segments_.end(), [&](const Segment& segment) {
    return place >= segment.begin && place < segment.end;
  });
}

std::string_view LoadedObject::name_of(const ElfW(Sym) & symbol) const {
  return names_ + symbol.st_name;
}

bool LoadedObject::is_function(const ElfW(Sym) & symbol) const {
  return symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
         ELF64_ST_BIND(symbol.st_info) != STB_LOCAL;
}

LoadedObject::Functions LoadedObject::functions() const {
  Functions found;
  for (const auto& symbol : std::span(symbols_, symbol_count_))
    if (is_function(symbol))
      found.emplace(name_of(symbol), reinterpret_cast<void*>(base_ + symbol.st_value));
  return found;
}

int LoadedObject::protection_of(std::uintptr_t address) const {
  if (address >= made_read_only_.begin && address < made_read_only_.end) return PROT_READ;
  for (const Segment& segment : segments_)
    if (address >= page_of(segment.begin) && address < segment.end) return segment.protection;
  return PROT_READ | PROT_WRITE;
}

bool LoadedObject::make_writable(std::uintptr_t begin, std::uintptr_t end) const {
  const std::uintptr_t page = page_of(begin);
  if ((protection_of(begin) & PROT_WRITE) != 0) return true;
  // Without PROT_EXEC: nobody runs what is written here, and some systems forbid both together.
  return mprotect(reinterpret_cast<void*>(page), end - page, PROT_READ | PROT_WRITE) == 0;
}

void LoadedObject::protect_again(std::uintptr_t begin, std::uintptr_t end) const {
  const int protection = protection_of(begin);
  const std::uintptr_t page = page_of(begin);
  if ((protection & PROT_WRITE) == 0)
    mprotect(reinterpret_cast<void*>(page), end - page, protection);
}

bool LoadedObject::redirect_calls(const Target& to) {
  bool is_done = true;
  for (const auto& part : {relocations_, jumps_}) {
    for (const auto& relocation : part) {
      if (!is_address_of_symbol(ELF64_R_TYPE(relocation.r_info)) || relocation.r_addend != 0)
        continue;
      void* target = to(name_of(symbols_[ELF64_R_SYM(relocation.r_info)]));
      if (target == nullptr) continue;
      const std::uintptr_t place = base_ + relocation.r_offset;
      if (!make_writable(place, place + sizeof target)) {
        is_done = false;
        continue;
      }
      *reinterpret_cast<void**>(place) = target;
      protect_again(place, place + sizeof target);
    }
  }
  return is_done;
}

bool LoadedObject::redefine_functions(const Target& to) {
  const auto begin = reinterpret_cast<std::uintptr_t>(symbols_);
  const auto end = reinterpret_cast<std::uintptr_t>(symbols_ + symbol_count_);
  if (!make_writable(begin, end)) return false;
  for (auto& symbol : std::span(symbols_, symbol_count_)) {
    if (!is_function(symbol)) continue;
    // Relative to our beginning, also where it lies before that.
    if (void* target = to(name_of(symbol)))
      symbol.st_value = reinterpret_cast<ElfW(Addr)>(target) - base_;
  }
  protect_again(begin, end);
  return true;
}

}  // namespace resprout::shim
// NOLINTEND(performance-no-int-to-ptr)

// What stands in a program's file for the loader.
//
// Thread rule: none.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace resprout::launcher {

// A file of this machine's kind: a program or a library.
class Elf {
 public:
  explicit Elf(const std::string& file) : file_(file, std::ios::binary) {}

  // False: it is none.
  bool read() {
    ElfW(Ehdr) header{};
    if (!get(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
    if (header.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32)) return false;
    if (header.e_phentsize != sizeof(ElfW(Phdr))) return false;
    segments_.resize(header.e_phnum);
    for (std::size_t i = 0; i < segments_.size(); ++i)
      if (!get(header.e_phoff + i * sizeof(ElfW(Phdr)), segments_[i])) return false;
    return read_entries();
  }
  std::vector<std::string> all(ElfW(Sxword) tag) {
    std::vector<std::string> texts;
    for (const ElfW(Dyn) & entry : entries_)
      if (entry.d_tag == tag) texts.push_back(text_at(strings_ + entry.d_un.d_val));
    return texts;
  }

 private:
  template <typename T>
  bool get(std::uint64_t at, T& into) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(file_.read(reinterpret_cast<char*>(&into), sizeof into));
  }
  bool read_entries() {
    for (const ElfW(Phdr) & segment : segments_) {
      if (segment.p_type != PT_DYNAMIC) continue;
      const std::size_t count = segment.p_filesz / sizeof(ElfW(Dyn));
      for (std::size_t i = 0; i < count; ++i) {
        ElfW(Dyn) entry{};
        if (!get(segment.p_offset + i * sizeof entry, entry) || entry.d_tag == DT_NULL) break;
        entries_.push_back(entry);
      }
    }
    for (const ElfW(Dyn) & entry : entries_)
      if (entry.d_tag == DT_STRTAB)
        if (const auto at = place_of(entry.d_un.d_ptr)) strings_ = *at;
    return strings_ != 0;
  }
  // In the file, of what is at that address when it is loaded.
  std::optional<std::uint64_t> place_of(std::uint64_t address) const {
    for (const ElfW(Phdr) & segment : segments_)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address < segment.p_vaddr + segment.p_filesz)
        return segment.p_offset + (address - segment.p_vaddr);
    return std::nullopt;
  }
  std::string text_at(std::uint64_t at) {
    std::string text;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    std::getline(file_, text, '\0');
    return text;
  }

  std::ifstream file_;
  std::vector<ElfW(Phdr)> segments_;
  std::vector<ElfW(Dyn)> entries_;
  std::uint64_t strings_ = 0;
};

}  // namespace resprout::launcher

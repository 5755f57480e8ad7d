// A shared library, or the program, as it lies in memory: the names that it defines, and the places
// from which it calls functions of others.
//
// Of ELF objects that glibc has loaded, on processors whose relocations we know (can_rewire). What
// is written is memory of this process alone.
//
// Thread rule: while libraries are loaded, before there are other threads.
#pragma once

#include <link.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace resprout::shim {

class LoadedObject {
 public:
  // Those of the program's own namespace, in the order in which names are looked up.
  static std::vector<LoadedObject> all();
  static bool can_rewire();

  // REQUIRES: it has a dynamic section.
  explicit LoadedObject(const dl_phdr_info& info);

  const std::string& path() const { return path_; }
  bool contains(const void* address) const;

  // All functions that it defines for others, by name.
  using Functions = std::unordered_map<std::string_view, void*>;
  Functions functions() const;

  // `to(name)`: where calls of the function `name` are to go; null: where they go now. False: the
  // system does not allow it, and nothing has changed.
  using Target = std::function<void*(std::string_view name)>;
  bool redirect_calls(const Target& to);
  // Each lookup of a name in this object finds from now on what `to` says.
  bool redefine_functions(const Target& to);

 private:
  template <typename T>
  T* at(ElfW(Addr) address) const;
  std::string_view name_of(const ElfW(Sym) & symbol) const;
  bool is_function(const ElfW(Sym) & symbol) const;
  void count_symbols(const std::uint32_t* gnu_hash);

  struct Segment {
    std::uintptr_t begin;
    std::uintptr_t end;
    int protection;
  };
  // That the address is in, once relocations are done.
  int protection_of(std::uintptr_t address) const;
  bool make_writable(std::uintptr_t begin, std::uintptr_t end) const;
  void protect_again(std::uintptr_t begin, std::uintptr_t end) const;

  std::string path_;
  ElfW(Addr) base_;
  std::vector<Segment> segments_;
  Segment made_read_only_{};  // by the loader, after relocations
  ElfW(Sym) * symbols_ = nullptr;
  std::size_t symbol_count_ = 0;
  const char* names_ = nullptr;
  std::span<const ElfW(Rela)> relocations_;
  std::span<const ElfW(Rela)> jumps_;
};

}  // namespace resprout::shim

// Which sanitizer's runtimes have to come first among the libraries of a program.
//
// The runtimes of gcc and clang refuse to work behind any other library. They are those that
// LD_PRELOAD names already, and those that the program itself asks the loader for (DT_NEEDED).
// Thread rule: none.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/start/elf.hpp"

namespace resprout::launcher {
namespace detail {

using Path = std::filesystem::path;

inline std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; (at = text.find_first_not_of(separators, at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

// $ORIGIN in a folder is the program's own.
inline std::string resolved(std::string folder, const Path& file) {
  const std::string own = file.has_parent_path() ? file.parent_path().string() : ".";
  for (const std::string name : {"${ORIGIN}", "$ORIGIN"})
    if (const std::size_t at = folder.find(name); at != std::string::npos)
      folder.replace(at, name.size(), own);
  return folder;
}

}  // namespace detail

// Its file is named like the runtime of a sanitizer.
inline bool is_sanitizer(const std::string& library) {
  const std::string name = detail::Path(library).filename().string();
  for (const char* known :
       {"libasan.so", "libtsan.so", "libubsan.so", "liblsan.so", "libhwasan.so", "libclang_rt.asan",
        "libclang_rt.tsan", "libclang_rt.ubsan", "libclang_rt.hwasan", "libclang_rt.msan"})
    if (name.rfind(known, 0) == 0) return true;
  return false;
}

// The runtimes that the program in this file asks for, as the loader finds them: with their folder
// if the program names it. None if it is no program in ELF of this machine's kind.
inline std::vector<std::string> sanitizers_of(const std::string& file) {
  Elf elf(file);
  if (!elf.read()) return {};
  std::vector<std::string> folders;
  for (const ElfW(Sxword) tag : {ElfW(Sxword){DT_RPATH}, ElfW(Sxword){DT_RUNPATH}})
    for (const std::string& path : elf.all(tag))
      for (const std::string& folder : detail::split(path, ":"))
        folders.push_back(detail::resolved(folder, file));
  std::vector<std::string> found;
  for (const std::string& name : elf.all(DT_NEEDED)) {
    if (!is_sanitizer(name)) continue;
    const auto in = std::find_if(folders.begin(), folders.end(), [&](const std::string& folder) {
      return access((detail::Path(folder) / name).c_str(), R_OK) == 0;
    });
    found.push_back(in == folders.end() ? name : (detail::Path(*in) / name).string());
  }
  return found;
}

// `preload`, a value of LD_PRELOAD, with the runtimes of sanitizers in front, `needed` among them.
inline std::string with_sanitizers_first(const std::string& preload,
                                         const std::vector<std::string>& needed) {
  std::vector<std::string> first;
  std::vector<std::string> others;
  for (const std::string& library : detail::split(preload, ": "))
    (is_sanitizer(library) ? first : others).push_back(library);
  for (const std::string& library : needed) {
    const bool is_there = std::any_of(first.begin(), first.end(), [&](const std::string& one) {
      return detail::Path(one).filename() == detail::Path(library).filename();
    });
    if (!is_there) first.push_back(library);
  }
  if (first.empty()) return preload;
  first.insert(first.end(), others.begin(), others.end());
  std::string all;
  for (const std::string& library : first) all += (all.empty() ? "" : ":") + library;
  return all;
}

// The file that execvp would run; empty: none.
inline std::string file_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : detail::split(path != nullptr ? path : "/bin:/usr/bin", ":"))
    if (const detail::Path file = detail::Path(folder) / program; access(file.c_str(), X_OK) == 0)
      return file.string();
  return "";
}

}  // namespace resprout::launcher

#include "mpi/policies/files/file_note.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <set>
#include <sstream>

#include "mpi/policies/files/lock.hpp"
#include "mpi/process/report/json.hpp"

#define XXH_INLINE_ALL
#include "xxhash/xxhash.h"

namespace resprout::shim {
namespace {

constexpr std::string_view made = R"({"is":"made"})";
constexpr std::string_view failed = R"({"is":"failed","errno":)";

std::string as_in_urls(std::string_view path) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-";
  std::string text;
  for (const char byte : path) {
    if (plain.find(byte) != std::string_view::npos) {
      text += byte;
      continue;
    }
    std::array<char, 4> code{};
    std::snprintf(code.data(), code.size(), "%%%02X", static_cast<unsigned char>(byte));
    text += code.data();
  }
  return text;
}

std::string from_urls(std::string_view text) {
  std::string path;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%' || at + 2 >= text.size()) {
      path += text[at];
      continue;
    }
    unsigned char byte = 0;
    std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16);
    path += static_cast<char>(byte);
    at += 2;
  }
  return path;
}

}  // namespace

std::string digits_of(std::uint64_t number) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
  return digits.data();
}

std::string digits_of(std::string_view file) {
  return digits_of(std::uint64_t{XXH3_64bits(file.data(), file.size())});
}

FileNote::FileNote(const std::string& folder, std::string_view file) {
  ::mkdir(folder.c_str(), 0700);  // or another one has
  open(folder + "/" + digits_of(file) + ".json");
}

FileNote::FileNote(const std::string& path) { open(path); }

void FileNote::open(const std::string& path) {
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ < 0) {
    error_ = errno;
    return;
  }
  error_ = lock_whole(fd_);
  if (error_ == 0) read();
}

FileNote::~FileNote() {
  if (fd_ >= 0) ::close(fd_);
}

void FileNote::read() {
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t got = ::read(fd_, chunk.data(), chunk.size());
    if (got == 0) return;
    if (got < 0 && errno != EINTR) {
      error_ = errno;
      return;
    }
    if (got > 0) text_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

void FileNote::append(const std::string& line) {
  text_ += line + "\n";
  std::string_view left(text_.data() + text_.size() - line.size() - 1, line.size() + 1);
  while (error_ == 0 && !left.empty()) {
    const ssize_t put = ::write(fd_, left.data(), left.size());
    if (put < 0 && errno != EINTR) error_ = errno;
    if (put > 0) left.remove_prefix(static_cast<std::size_t>(put));
  }
}

std::optional<int> FileNote::result() const {
  const std::size_t second = text_.find('\n');
  if (second == std::string::npos) return std::nullopt;
  const std::size_t end = text_.find('\n', second + 1);
  if (end == std::string::npos) return std::nullopt;
  std::string_view line = std::string_view(text_).substr(second + 1, end - second - 1);
  if (line == made) return 0;
  int number = EIO;
  line.remove_prefix(std::min(line.size(), failed.size()));
  std::from_chars(line.data(), line.data() + line.size(), number);
  return number;
}

// The first line is ours: its strings are the names of its members, and files.
std::vector<std::string> FileNote::places() const {
  std::vector<std::string> files;
  if (result() != 0) return files;
  const std::string_view line = std::string_view(text_).substr(0, text_.find('\n'));
  for (std::size_t begin = line.find('"'); begin != std::string_view::npos;) {
    const std::size_t end = line.find('"', begin + 1);
    const std::string_view text = line.substr(begin + 1, end - begin - 1);
    if (text.starts_with('/')) files.push_back(from_urls(text));
    begin = line.find('"', end + 1);
  }
  return files;
}

void FileNote::begin(std::string_view file, const std::vector<std::string>& shadows) {
  text_.clear();
  if (error_ == 0 && ::ftruncate(fd_, 0) != 0) error_ = errno;
  Json json;
  json.begin_object().key("file").string(as_in_urls(file)).key("shadows").begin_array();
  for (const std::string& shadow : shadows) json.string(as_in_urls(shadow));
  json.end_array().end_object();
  append(json.text());
}

void FileNote::end(int result) {
  append(result == 0 ? std::string(made) : std::string(failed) + std::to_string(result) + "}");
}

// As long as a plane does the same again and again, once is enough.
void FileNote::note(std::string_view what, int replica) {
  const std::string by = R"(","replica":)" + std::to_string(replica) + "}\n";
  const std::string line = R"({"is":")" + std::string(what) + by;
  const std::size_t last = text_.rfind(by);
  if (last != std::string::npos && last + by.size() >= line.size() &&
      text_.compare(last + by.size() - line.size(), line.size(), line) == 0)
    return;
  append(line.substr(0, line.size() - 1));
}

void FileNote::note(std::string_view what, int replica, int rank, std::uint64_t of) {
  Json json;
  json.begin_object().key("is").string(what).key("replica").number(replica);
  json.key("rank").number(rank).key("of").string(digits_of(of)).end_object();
  append(json.text());
}

std::map<std::uint64_t, bool> FileNote::missing(int replica, int rank) const {
  std::map<std::uint64_t, bool> elsewhere;
  std::set<std::uint64_t> here;
  std::istringstream lines(text_);
  for (std::string line; std::getline(lines, line);) {
    std::array<char, 8> what{};
    int plane = 0;
    int by = 0;
    unsigned long long of = 0;
    constexpr const char* form = R"({"is":"%7[a-z]","replica":%d,"rank":%d,"of":"%16llx"})";
    if (std::sscanf(line.c_str(), form, what.data(), &plane, &by, &of) != 4 || by != rank) continue;
    const std::string_view is = what.data();
    if (is != "closed" && is != "removed") continue;
    if (plane == replica)
      here.insert(of);
    else
      elsewhere[of] = is == "removed";
  }
  std::erase_if(elsewhere, [&](const auto& done) { return here.contains(done.first); });
  return elsewhere;
}

}  // namespace resprout::shim

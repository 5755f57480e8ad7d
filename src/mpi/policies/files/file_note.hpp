// What the planes of a job know together of one file: a note in the job's run directory, which
// one process at a time holds.
//
// It is named by the file's path and has a JSON object a line. The first says which file and which
// shadows there are to be, {"file", "shadows": [of plane 1, ...]}; the second {"is": "made"}, or
// {"is": "failed", "errno"}: that is final. Then what planes have done,
// {"is": "opened" | "deleted", "replica"}. Where siblings stand in also, each time, what ranks
// have,
// {"is": "begun" | "closed" | "removed", "replica", "rank"}, the lowest one of those who do it
// together; and {"is": "unfilled", "replica"} of a plane that lacks what the lost should have
// written. Names are as in URLs: bytes that are no letters, digits or one of `/._-` are %XX. The
// launcher reads it (python/resprout/launch/planes/shadows.py).
//
// The lock is the kernel's, also between hosts that share the folder: it ends with who holds it.
// Thread rule: one thread; others, and other processes, wait in the constructor.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace resprout::shim {

// 16 digits for a number, or for a path.
std::string digits_of(std::uint64_t number);
std::string digits_of(std::string_view file);

class FileNote {
 public:
  // Waits until nobody else holds it. `folder`: is made if it is not there; `file`: its path.
  FileNote(const std::string& folder, std::string_view file);
  // The note itself is there, at `path`.
  explicit FileNote(const std::string& path);
  ~FileNote();
  FileNote(const FileNote&) = delete;
  FileNote& operator=(const FileNote&) = delete;

  // 0, or why it could not be opened, locked or written: errno.
  int error() const { return error_; }

  // How making the shadows has ended: 0, or errno. Nothing: nobody has come as far.
  std::optional<int> result() const;
  // The files of plane 0, 1 and so on. Empty: nobody has come as far, or it has failed.
  std::vector<std::string> places() const;
  // Says which there are to be. What somebody has said who did not come to an end is forgotten.
  void begin(std::string_view file, const std::vector<std::string>& shadows);
  void end(int result);
  // `what`: "opened", "deleted", "unfilled".
  void note(std::string_view what, int replica);
  // `what`: "begun", "closed", "removed". Said twice it is said once.
  static constexpr int several = -1;
  void note(std::string_view what, int replica, int rank, std::uint64_t of);
  // What this rank has closed or removed alone in other planes and not in this one, by what tells
  // it from its other times: is it a removal?
  std::map<std::uint64_t, bool> missing(int replica, int rank) const;

 private:
  void open(const std::string& path);
  void read();
  void append(const std::string& line);

  int fd_ = -1;
  int error_ = 0;
  std::string text_;
};

}  // namespace resprout::shim

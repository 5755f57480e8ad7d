// Where a process has written to a file, and what is there now.
//
// It is handed on in *parts*, each of which can be put where it belongs without the others.
// Thread rule: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace resprout::shim {

class Written {
 public:
  static constexpr std::size_t part_bytes = std::size_t{1} << 20;

  void add(std::int64_t at, std::int64_t bytes);
  // It has written where nobody can tell for another plane, as the shared pointer said.
  void add_somewhere() { is_all_known_ = false; }

  // What is there in this file now, in parts of so many bytes or a little more: one at least.
  // Forgets where it was.
  std::vector<std::vector<std::byte>> take_parts(const std::string& path);

 private:
  struct Piece {
    std::int64_t at = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Piece> take_pieces();

  std::vector<Piece> pieces_;
  bool is_all_known_ = true;
};

// What a part says beside that.
struct WrittenPart {
  bool is_last = false;
  bool is_all_known = false;
  int error = 0;  // errno
};
// Puts it into the file that is open as `fd`.
WrittenPart put_part(std::span<const std::byte> part, int fd);

}  // namespace resprout::shim

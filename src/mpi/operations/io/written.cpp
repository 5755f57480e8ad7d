#include "mpi/operations/io/written.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/net/fd.hpp"

namespace resprout::shim {
namespace {

// A part begins with this; then pieces, each its place, its size, and so many bytes.
struct PartHead {
  std::uint32_t is_last = 0;
  std::uint32_t is_all_known = 0;
};
struct PieceHead {
  std::int64_t at = 0;
  std::int64_t bytes = 0;
};

template <typename Head>
void append(std::vector<std::byte>& part, const Head& head) {
  part.resize(part.size() + sizeof head);
  std::memcpy(part.data() + part.size() - sizeof head, &head, sizeof head);
}

// All of it, unless the file ends before. False: an error, errno.
bool read_from(int fd, std::span<std::byte> into, std::int64_t at, std::size_t* got) {
  *got = 0;
  while (*got < into.size()) {
    const ssize_t now =
        ::pread(fd, into.data() + *got, into.size() - *got, at + static_cast<std::int64_t>(*got));
    if (now == 0) return true;
    if (now < 0 && errno != EINTR) return false;
    if (now > 0) *got += static_cast<std::size_t>(now);
  }
  return true;
}

int write_to(int fd, std::span<const std::byte> from, std::int64_t at) {
  while (!from.empty()) {
    const ssize_t now = ::pwrite(fd, from.data(), from.size(), at);
    if (now < 0 && errno != EINTR) return errno;
    if (now <= 0) continue;
    from = from.subspan(static_cast<std::size_t>(now));
    at += now;
  }
  return 0;
}

// One part after the other.
class PartWriter {
 public:
  PartWriter() { begin(); }

  // False: it cannot be read.
  bool add(int fd, std::int64_t at, std::int64_t bytes) {
    while (bytes > 0) {
      if (parts_.back().size() >= Written::part_bytes) begin();
      const auto now = std::min<std::int64_t>(bytes, Written::part_bytes);
      std::vector<std::byte>& part = parts_.back();
      const std::size_t head_at = part.size();
      append(part, PieceHead{at, now});
      const std::size_t begin = part.size();
      part.resize(begin + static_cast<std::size_t>(now));
      std::size_t got = 0;
      if (!read_from(fd, std::span(part).subspan(begin), at, &got)) return false;
      part.resize(begin + got);
      const PieceHead head{at, static_cast<std::int64_t>(got)};
      std::memcpy(part.data() + head_at, &head, sizeof head);
      at += now;
      bytes -= now;
    }
    return true;
  }

  std::vector<std::vector<std::byte>> end(bool is_all_known) {
    for (auto& part : parts_) {
      const PartHead head{&part == &parts_.back(), is_all_known};
      std::memcpy(part.data(), &head, sizeof head);
    }
    return std::move(parts_);
  }

 private:
  void begin() { append(parts_.emplace_back(), PartHead{}); }

  std::vector<std::vector<std::byte>> parts_;
};

}  // namespace

void Written::add(std::int64_t at, std::int64_t bytes) {
  const bool continues = !pieces_.empty() && pieces_.back().at + pieces_.back().bytes == at;
  if (continues)
    pieces_.back().bytes += bytes;
  else if (bytes > 0)
    pieces_.push_back({at, bytes});
}

// Ascending, and none of them overlap.
std::vector<Written::Piece> Written::take_pieces() {
  std::vector<Piece> pieces = std::exchange(pieces_, {});
  std::ranges::sort(pieces, {}, &Piece::at);
  std::size_t last = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    Piece& before = pieces[last];
    const std::int64_t end = pieces[i].at + pieces[i].bytes;
    if (pieces[i].at > before.at + before.bytes)
      pieces[++last] = pieces[i];
    else
      before.bytes = std::max(before.bytes, end - before.at);
  }
  if (!pieces.empty()) pieces.resize(last + 1);
  return pieces;
}

std::vector<std::vector<std::byte>> Written::take_parts(const std::string& path) {
  bool is_all_known = std::exchange(is_all_known_, true);
  const std::vector<Piece> pieces = take_pieces();
  PartWriter parts;
  if (!pieces.empty()) {
    const runtime::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    for (const Piece& piece : pieces)
      if (!fd.is_open() || !parts.add(fd.get(), piece.at, piece.bytes)) is_all_known = false;
  }
  return parts.end(is_all_known);
}

WrittenPart put_part(std::span<const std::byte> part, int fd) {
  PartHead head;
  if (part.size() < sizeof head) return {.is_last = true, .error = EIO};
  std::memcpy(&head, part.data(), sizeof head);
  WrittenPart put{head.is_last != 0, head.is_all_known != 0};
  part = part.subspan(sizeof head);
  while (put.error == 0 && !part.empty()) {
    PieceHead piece;
    if (part.size() >= sizeof piece) std::memcpy(&piece, part.data(), sizeof piece);
    const auto bytes = static_cast<std::size_t>(piece.bytes);
    if (part.size() < sizeof piece || bytes > part.size() - sizeof piece)
      return {.is_last = true, .error = EIO};
    put.error = write_to(fd, part.subspan(sizeof piece, bytes), piece.at);
    part = part.subspan(sizeof piece + bytes);
  }
  return put;
}

}  // namespace resprout::shim

#include "runtime/checkpoints/file_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace resprout::runtime {
namespace {

constexpr std::string_view checkpoint_prefix = "checkpoint-";

int write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return fsync(file) == 0 ? 0 : errno;
}

// A name is on the disk when its folder is.
void sync_folder(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

}  // namespace

FileStore::FileStore(std::string folder, int rank, int ranks, BlockDigest digest)
    : folder_(std::move(folder)),
      suffix_(".rank-" + std::to_string(rank) + "-of-" + std::to_string(ranks)),
      digest_(digest) {}

std::string FileStore::path_of(std::uint64_t generation) const {
  return folder_ + "/" + std::string(checkpoint_prefix) + std::to_string(generation) + suffix_;
}

std::vector<std::uint64_t> FileStore::generations() const {
  std::vector<std::uint64_t> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(checkpoint_prefix) || !name.ends_with(suffix_)) continue;
    const char* end = name.data() + name.size() - suffix_.size();
    std::uint64_t generation = 0;
    const auto [at, error] =
        std::from_chars(name.data() + checkpoint_prefix.size(), end, generation);
    if (error == std::errc{} && at == end) found.push_back(generation);
  }
  return found;
}

std::vector<Image> FileStore::find() {
  std::vector<Image> found;
  for (const std::uint64_t generation : generations()) {
    auto file = std::make_unique<MappedFile>();
    if (!file->open_to_read(path_of(generation))) continue;
    const auto image = read_image(file->memory(), digest_);
    if (!image || image->name.generation != generation) continue;
    found.push_back(*image);
    open_.push_back(std::move(file));
  }
  return found;
}

int FileStore::write(const Image& image) const {
  const std::string path = path_of(image.name.generation);
  const std::string draft = folder_ + "/draft" + suffix_;
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int error = write_all(file, image.all);
  close(file);
  if (error == 0 && std::rename(draft.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) unlink(draft.c_str());
  sync_folder(folder_);
  return error;
}

void FileStore::forget_before(std::uint64_t generation) const {
  for (const std::uint64_t older : generations())
    if (older < generation) unlink(path_of(older).c_str());
}

}  // namespace resprout::runtime

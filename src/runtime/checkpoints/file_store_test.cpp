// Checkpoints in files.
#include "runtime/checkpoints/file_store.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

std::uint64_t sum_in_file(std::span<const std::byte> block) {
  return std::accumulate(block.begin(), block.end(), std::uint64_t{3},
                         [](std::uint64_t sum, std::byte byte) {
                           return sum * 31 + static_cast<std::uint64_t>(byte);
                         });
}

class FileFolder {
 public:
  FileFolder() { REQUIRE(mkdtemp(path_.data()) != nullptr); }
  ~FileFolder() { std::filesystem::remove_all(path_); }
  FileFolder(const FileFolder&) = delete;
  FileFolder& operator=(const FileFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "resprout-XXXXXX").string();
};

void write_to(const std::string& folder, int rank, std::uint64_t generation) {
  std::vector<std::byte> memory(300'000, std::byte(generation));
  const std::span<std::byte> regions[] = {memory};
  std::vector<std::byte> image(image_bytes(regions));
  write_image(image, {generation, 0, rank, 2}, regions, sum_in_file);
  REQUIRE(FileStore(folder, rank, 2, sum_in_file).write(view_image(image)) == 0);
}

std::vector<std::uint64_t> found_in(const std::string& folder, int rank) {
  FileStore store(folder, rank, 2, sum_in_file);
  std::vector<std::uint64_t> generations;
  for (const Image& image : store.find()) {
    CHECK(image.data.back() == std::byte(image.name.generation));
    generations.push_back(image.name.generation);
  }
  std::sort(generations.begin(), generations.end());
  return generations;
}

TEST_CASE("a later job finds the files of each rank, and no draft") {
  const FileFolder folder;
  for (const std::uint64_t generation : {10, 20, 30}) write_to(folder.path(), 1, generation);
  write_to(folder.path(), 0, 20);
  CHECK(found_in(folder.path(), 1) == std::vector<std::uint64_t>{10, 20, 30});
  CHECK(found_in(folder.path(), 0) == std::vector<std::uint64_t>{20});
  FileStore(folder.path(), 1, 2, sum_in_file).forget_before(20);
  CHECK(found_in(folder.path(), 1) == std::vector<std::uint64_t>{20, 30});
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/draft.rank-1-of-2"));
}

TEST_CASE("what is damaged on the disk, or cut off, is not found") {
  const FileFolder folder;
  for (const std::uint64_t generation : {10, 20, 30}) write_to(folder.path(), 0, generation);
  std::filesystem::resize_file(folder.path() + "/checkpoint-30.rank-0-of-2", 200'000);
  std::fstream file(folder.path() + "/checkpoint-20.rank-0-of-2",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(250'000);
  file.put('!');
  file.close();
  CHECK(found_in(folder.path(), 0) == std::vector<std::uint64_t>{10});
}

TEST_CASE("where there is no folder nothing is written, and nothing found") {
  const std::vector<std::span<std::byte>> nothing;
  std::vector<std::byte> image(image_bytes(nothing));
  write_image(image, {1, 0, 0, 2}, nothing, sum_in_file);
  FileStore store("/nowhere/at/all", 0, 2, sum_in_file);
  CHECK(store.write(view_image(image)) == ENOENT);
  CHECK(store.find().empty());
}

}  // namespace
}  // namespace resprout::runtime

#include "mpi/policies/replicas/compared_writes.hpp"

#include <array>
#include <functional>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/policies/replicas/compared_pair.hpp"
#include "runtime/testing/scratch_folder.hpp"

namespace resprout::shim {
namespace {

using protocols::VoteMethod;
using runtime::Stream;

// A file of a rank whose sibling writes the same, and what the two compare of it.
class File {
 public:
  explicit File(VoteMethod method = VoteMethod::msg_plus_hash) : pair(method) {
    PMPI_File_open(pair.comm, folder.path("out").c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                   MPI_INFO_NULL, &file);
    begin_comparing_writes(file, pair.comm);
  }
  ~File() { PMPI_File_close(&file); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // The digest of what was written since the time before.
  std::uint64_t compared() {
    pair.digests.clear();
    compare_writes(file, "file_sync");
    pair.answer();
    return pair.digests.back();
  }
  std::uint64_t compared_after(const std::function<void(MPI_File)>& write) {
    write(file);
    return compared();
  }

  runtime::testing::ScratchFolder folder;
  Pair pair;
  MPI_File file = MPI_FILE_NULL;
};

WrittenData data(const std::array<int, 4>& numbers) { return {numbers.data(), 4, MPI_INT}; }

constexpr std::array<int, 4> right{1, 2, 3, 4};
constexpr std::array<int, 4> wrong{1, 2, 3, 5};

TEST_CASE("what is written where is compared, and a wrong word or place is another") {
  File file;
  const auto at = [](MPI_Offset place, const std::array<int, 4>& numbers) {
    return [=, &numbers](MPI_File fh) { note_write_at(fh, place, data(numbers)); };
  };
  const std::uint64_t digest = file.compared_after(at(0, right));
  CHECK(digest == file.compared_after(at(0, right)));
  CHECK(digest != file.compared_after(at(0, wrong)));
  CHECK(digest != file.compared_after(at(16, right)));
  CHECK(digest != file.compared());
  CHECK(file.pair.findings.empty());
}

TEST_CASE("all ways to write to a place are the same, whatever order threads have") {
  File file;
  const std::uint64_t digest = file.compared_after([](MPI_File fh) {
    note_write_at(fh, 0, data(right));
    note_write_at(fh, 16, data(wrong));
  });
  CHECK(digest == file.compared_after([](MPI_File fh) {
    note_write_at(fh, 16, data(wrong));
    note_write_here(fh, data(right));
  }));
}

TEST_CASE("a view moves what is written") {
  File file;
  const std::uint64_t digest =
      file.compared_after([](MPI_File fh) { note_write_at(fh, 16, data(right)); });
  PMPI_File_set_view(file.file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  CHECK(digest == file.compared_after([](MPI_File fh) { note_write_at(fh, 4, data(right)); }));
}

TEST_CASE("where a shared pointer stands is not compared, but what is written there is") {
  File file;
  const auto somewhere = [&](const std::array<int, 4>& numbers) {
    return file.compared_after([&](MPI_File fh) { note_write_somewhere(fh, data(numbers)); });
  };
  CHECK(somewhere(right) == somewhere(right));
  CHECK(somewhere(right) != somewhere(wrong));
  const auto size = [&](MPI_Offset bytes) {
    return file.compared_after([&](MPI_File fh) { note_new_size(fh, bytes); });
  };
  CHECK(size(7) != size(8));
}

TEST_CASE("what a program that goes back writes again counts once") {
  File file;
  const auto write = [](MPI_File fh) { note_write_at(fh, 0, data(right)); };
  write(file.file);
  const std::uint64_t digest = file.compared_after(write);
  write(file.file);
  const WriteSums kept = write_sums();
  note_write_at(file.file, 0, data(wrong));
  set_write_sums(kept);
  CHECK(digest == file.compared_after(write));
  const std::uint64_t nothing = file.compared();
  write(file.file);
  forget_write_sums();
  CHECK(nothing == file.compared());
}

TEST_CASE("who differs is found when the file is closed, with any method") {
  for (const VoteMethod method : {VoteMethod::all_to_all, VoteMethod::async_hash}) {
    File file(method);
    file.pair.differs = Stream::Of::results;
    note_write_at(file.file, 0, data(right));
    end_comparing_writes(file.file, "file_close");
    file.pair.answer();
    REQUIRE(file.pair.findings.size() == 1);
    CHECK(file.pair.findings[0].call == "file_close");
    CHECK(file.pair.findings[0].bytes == sizeof right);
    // It is of no file any more.
    file.pair.digests.clear();
    compare_writes(file.file, "file_sync");
    CHECK(file.pair.digests.empty());
  }
}

}  // namespace
}  // namespace resprout::shim

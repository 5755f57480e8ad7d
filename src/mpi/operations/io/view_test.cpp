#include "mpi/operations/io/view.hpp"

#include <array>
#include <utility>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"
#include "runtime/testing/scratch_folder.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

using Pieces = std::vector<std::pair<MPI_Offset, MPI_Offset>>;

Pieces pieces_of(const View& view, MPI_Offset at, MPI_Offset bytes) {
  Pieces pieces;
  view.for_each_piece(at, bytes,
                      [&](MPI_Offset from, MPI_Offset size) { pieces.emplace_back(from, size); });
  return pieces;
}

// A file that is open, with a view of every second int from the third byte on, or of all.
class OpenFile {
 public:
  OpenFile() {
    need_mpi();
    const std::string path = folder_.path() + "/file";
    PMPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                   &fh_);
  }
  ~OpenFile() { PMPI_File_close(&fh_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  operator MPI_File() const { return fh_; }

  void see_every_second(const char* representation = "native") const {
    MPI_Datatype column = MPI_DATATYPE_NULL;
    MPI_Datatype file_type = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(1, MPI_INT, &column);
    PMPI_Type_create_resized(column, 0, 8, &file_type);
    PMPI_Type_commit(&file_type);
    PMPI_File_set_view(fh_, 3, MPI_INT, file_type, representation, MPI_INFO_NULL);
    PMPI_Type_free(&column);
    PMPI_Type_free(&file_type);
  }

 private:
  const runtime::testing::ScratchFolder folder_;
  MPI_File fh_ = MPI_FILE_NULL;
};

}  // namespace

TEST_CASE("without a view all bytes of a file are there, in one piece") {
  CHECK(pieces_of(View(), 5, 3'000'000'000) == Pieces{{5, 3'000'000'000}});
  const OpenFile file;
  CHECK(pieces_of(View::of(file).value(), 7, 100) == Pieces{{7, 100}});
}

TEST_CASE("a view has the blocks of its file type, one file type behind the other") {
  const View view(100, 2, {{0, 4}, {10, 2}}, 20);
  CHECK(pieces_of(view, 0, 6) == Pieces{{100, 4}, {110, 2}});
  CHECK(pieces_of(view, 1, 6) == Pieces{{102, 2}, {110, 2}, {120, 2}});
  CHECK(pieces_of(view, 5, 12) == Pieces{{130, 2}, {140, 4}, {150, 2}, {160, 4}});
  CHECK(pieces_of(view, 2, 0).empty());
}

TEST_CASE("a view of nothing has no pieces") { CHECK(pieces_of(View(0, 1, {}, 8), 3, 10).empty()); }

TEST_CASE("that of an open file is what MPI was told") {
  const OpenFile file;
  file.see_every_second();
  CHECK(pieces_of(View::of(file).value(), 1, 8) == Pieces{{11, 4}, {19, 4}});
}

TEST_CASE("what MPI writes through a view is where the view says") {
  const OpenFile file;
  file.see_every_second();
  const View view = View::of(file).value();
  std::array<int, 5> numbers{11, 12, 13, 14, 15};
  PMPI_File_write_at(file, 2, numbers.data(), 5, MPI_INT, MPI_STATUS_IGNORE);
  PMPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  int next = 11;
  for (const auto& [at, bytes] : pieces_of(view, 2, sizeof numbers)) {
    int number = 0;
    CHECK(bytes == sizeof number);
    PMPI_File_read_at(file, at, &number, sizeof number, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(number == next++);
  }
  CHECK(next == 16);
}

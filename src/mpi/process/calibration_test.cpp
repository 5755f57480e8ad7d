#include "mpi/process/calibration.hpp"

#include "doctest/doctest.h"

using namespace resprout::shim;

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

Calibration parsed(const std::string& text) {
  Calibration calibration;
  REQUIRE(Calibration::parse(text, calibration) == "");
  return calibration;
}

std::string problem(const std::string& text) {
  Calibration calibration;
  return Calibration::parse(text, calibration);
}

// Of two cores: for 2 ranks always the library, for 4 never, for 8 what `sizes` say of bcast.
Calibration of_two_cores(const std::string& sizes) {
  return parsed(
      "cores=2;ranks=2,barrier=0,bcast=0,reduce=0,allreduce=0;"
      "ranks=4,barrier=,bcast=,reduce=,allreduce=;"
      "ranks=8,barrier=,bcast=" +
      sizes + ",reduce=,allreduce=1024");
}

}  // namespace

TEST_CASE("a calibration's sizes say from where on somebody else carries a call") {
  const Calibration calibration = of_two_cores("0.256.65536");
  const Calibration::Row* row = calibration.row_for({8, true});
  REQUIRE(row != nullptr);
  CHECK(row->is_native_faster(Kind::broadcast, 0));
  CHECK(row->is_native_faster(Kind::broadcast, 255));
  CHECK_FALSE(row->is_native_faster(Kind::broadcast, 256));
  CHECK_FALSE(row->is_native_faster(Kind::broadcast, 65535));
  CHECK(row->is_native_faster(Kind::broadcast, 65536));
  CHECK(row->is_native_faster(Kind::broadcast, std::size_t{1} << 40));
  CHECK_FALSE(row->is_native_faster(Kind::barrier, 0));
  CHECK_FALSE(row->is_native_faster(Kind::reduce, mib));
  CHECK_FALSE(row->is_native_faster(Kind::allreduce, 1023));
  CHECK(row->is_native_faster(Kind::allreduce, 1024));
}

TEST_CASE("the nearest number of ranks counts, among those with as much room for each") {
  const Calibration calibration = of_two_cores("");
  const auto ranks_for = [&](int ranks, bool is_crowded) {
    const Calibration::Row* row = calibration.row_for({ranks, is_crowded});
    return row == nullptr ? 0 : row->ranks();
  };
  CHECK(ranks_for(2, false) == 2);
  CHECK(ranks_for(4, true) == 4);
  CHECK(ranks_for(5, true) == 4);
  CHECK(ranks_for(6, true) == 8);
  CHECK(ranks_for(8, true) == 8);
  CHECK(ranks_for(16, true) == 8);
  // Two ranks of a job that crowds the cores are nearest to four of one.
  CHECK(ranks_for(2, true) == 4);
}

TEST_CASE("what was measured with less than half or more than twice as many ranks does not fit") {
  const Calibration calibration = of_two_cores("");
  CHECK(calibration.row_for({17, true}) == nullptr);
  CHECK(calibration.row_for({5, false}) == nullptr);
  CHECK(Calibration{}.row_for({2, false}) == nullptr);
}

TEST_CASE("a text that is no calibration is refused, and nothing of it is taken") {
  const std::string row = "ranks=2,barrier=0,bcast=,reduce=,allreduce=";
  const std::string twice = row + ";" + row;
  CHECK(problem("cores=2;" + row) == "");
  for (const std::string& text : std::vector<std::string>{
           "", "cores=2", "cores=2;", "cores=0;" + row, "cores=-1;" + row, row, "cores=2;;" + row,
           "cores=2;" + twice, "cores=2;ranks=1,barrier=,bcast=,reduce=,allreduce=",
           "cores=2;ranks=2,barrier=,bcast=,reduce=",
           "cores=2;ranks=2,bcast=,barrier=,reduce=,allreduce=", "cores=2;" + row + ",scan=",
           "cores=2;ranks=2,barrier=0,bcast=256.256,reduce=,allreduce=",
           "cores=2;ranks=2,barrier=0,bcast=256.8,reduce=,allreduce=",
           "cores=2;ranks=2,barrier=0,bcast=-1,reduce=,allreduce=",
           "cores=2;ranks=2,barrier=0,bcast=8.,reduce=,allreduce=",
           "cores=2;ranks=2,barrier=0,bcast=.8,reduce=,allreduce=",
           "cores=2;ranks=2,barrier=0,bcast=8x,reduce=,allreduce=",
           "cores=2;ranks=2,barrier=0,bcast=99999999999999999999999,reduce=,allreduce="}) {
    CAPTURE(text);
    Calibration calibration = of_two_cores("");
    CHECK(Calibration::parse(text, calibration) != "");
    CHECK(calibration.row_for({8, true}) != nullptr);
  }
}

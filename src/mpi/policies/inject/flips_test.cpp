#include "mpi/policies/inject/flips.hpp"

#include <array>
#include <cstring>

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"
#include "runtime/testing/scratch_folder.hpp"

using namespace resprout::shim;

namespace {

Fault flip_of(int rank, std::uint64_t message, std::uint64_t bit) {
  Fault fault;
  fault.kind = Fault::Kind::flip;
  fault.rank = rank;
  fault.message = message;
  fault.bit = bit;
  fault.text = "flip:rank=3,message=" + std::to_string(message);
  return fault;
}

const Sending to_one{"send", MPI_COMM_WORLD, 1, 5};

std::array<int, 4> ints_in(const SendBuffer& sent) {
  std::array<int, 4> values{};
  std::memcpy(values.data(), sent.data, sizeof(values));
  return values;
}

constexpr std::array<int, 4> values{1, 2, 3, 4};

}  // namespace

TEST_CASE("the bit of that message is flipped in a copy, all others are sent as they are") {
  need_mpi();
  Flips flips({flip_of(3, 2, 33), flip_of(2, 1, 0)}, 3, "");
  for (int message = 1; message <= 3; ++message) {
    CAPTURE(message);
    const SendBuffer sent = flips.as_sent({values.data(), 4, MPI_INT}, to_one);
    CHECK((sent.data == values.data()) == (message != 2));
    CHECK(sent.count == 4);
    CHECK(sent.datatype == MPI_INT);
    if (message == 2) CHECK(ints_in(sent) == std::array{1, 2 ^ 2, 3, 4});
  }
  CHECK(values == std::array{1, 2, 3, 4});
}

TEST_CASE("bits are counted modulo those of the message") {
  need_mpi();
  Flips flips({flip_of(3, 1, 128 * 1000 + 64)}, 3, "");
  CHECK(ints_in(flips.as_sent({values.data(), 4, MPI_INT}, to_one)) == std::array{1, 2, 3 ^ 1, 4});
}

TEST_CASE("a bit of what is protected is flipped after its checkpoint, and no message") {
  need_mpi();
  Fault fault = flip_of(3, 0, 33);
  fault.checkpoint = 2;
  std::array<int, 4> kept = values;
  Regions regions;
  regions.protect(kept.data(), sizeof kept);
  Flips flips({fault}, 3, "");
  CHECK(flips.as_sent({values.data(), 4, MPI_INT}, to_one).data == values.data());
  flips.at_checkpoint(regions);
  CHECK(kept == values);
  CHECK(flips.left().size() == 1);
  flips.at_checkpoint(regions);
  CHECK(kept == std::array{1, 2 ^ 2, 3, 4});
  flips.at_checkpoint(regions);
  CHECK(kept == std::array{1, 2 ^ 2, 3, 4});
  CHECK(flips.left().empty());
}

TEST_CASE("several bits of a message may be flipped") {
  need_mpi();
  Flips flips({flip_of(3, 1, 0), flip_of(3, 1, 96)}, 3, "");
  CHECK(ints_in(flips.as_sent({values.data(), 4, MPI_INT}, to_one)) == std::array{0, 2, 3, 5});
}

TEST_CASE("data with gaps are sent packed") {
  need_mpi();
  MPI_Datatype column = MPI_DATATYPE_NULL;
  PMPI_Type_vector(4, 1, 2, MPI_INT, &column);
  PMPI_Type_commit(&column);
  const std::array<int, 8> spread{1, -1, 2, -1, 3, -1, 4, -1};
  Flips flips({flip_of(3, 1, 32)}, 3, "");
  const SendBuffer sent = flips.as_sent({spread.data(), 1, column}, to_one);
  CHECK(sent.count == 16);
  CHECK(sent.datatype == MPI_PACKED);
  CHECK(ints_in(sent) == std::array{1, 2 ^ 1, 3, 4});
  PMPI_Type_free(&column);
}

TEST_CASE("what is sent to nobody is not counted; what is empty is, and cannot be flipped") {
  need_mpi();
  Flips flips({flip_of(3, 2, 0), flip_of(3, 3, 0)}, 3, "");
  const SendBuffer buffer{values.data(), 4, MPI_INT};
  Sending to_nobody = to_one;
  to_nobody.dest = MPI_PROC_NULL;
  CHECK(flips.as_sent(buffer, to_one).data == values.data());
  CHECK(flips.as_sent(buffer, to_nobody).data == values.data());
  CHECK(flips.as_sent({values.data(), 0, MPI_INT}, to_one).data == values.data());
  CHECK(flips.as_sent(buffer, to_one).data != values.data());
  CHECK(flips.left() == std::vector<std::string>{"flip:rank=3,message=2"});
}

TEST_CASE("each start of a persistent request is a message, of what is in the buffer then") {
  need_mpi();
  std::array<int, 4> buffer = values;
  Flips flips({flip_of(3, 2, 0)}, 3, "");
  PersistentCopy* copy = flips.persistent_copy({buffer.data(), 4, MPI_INT}, to_one);
  REQUIRE(copy != nullptr);
  for (int start = 1; start <= 3; ++start) {
    buffer[0] = 2 * start;
    copy->refresh();
    CHECK(ints_in(copy->sent())[0] == 2 * start + (start == 2 ? 1 : 0));
  }
  CHECK(buffer[0] == 6);
}

TEST_CASE("a flip leaves a note that says what it hit") {
  need_mpi();
  const resprout::runtime::testing::ScratchFolder directory;
  Flips flips({flip_of(3, 1, 130)}, 3, directory.path());
  flips.as_sent({values.data(), 4, MPI_INT}, to_one);
  CHECK(directory.read("notes-3").starts_with(
      "\n"
      R"({"flipped":{"fault":"flip:rank=3,message=1","rank":3,"message":1,"bit":2,"bytes":16,"call":"send",)"
      R"("destination":1,"tag":5,"communicator":"MPI_COMM_WORLD","flipped_ns":)"));
}

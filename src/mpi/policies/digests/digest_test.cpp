#include "mpi/policies/digests/digest.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "doctest/doctest.h"
#include "mpi/testing/mpi_of_one.hpp"

using namespace resprout::shim;

namespace {

// A datatype for the duration of a test.
class Type {
 public:
  explicit Type(MPI_Datatype type) : type_(type) { PMPI_Type_commit(&type_); }
  ~Type() { PMPI_Type_free(&type_); }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_;
};

MPI_Datatype vector_of(int blocks, int length, int stride, MPI_Datatype of) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_vector(blocks, length, stride, of, &made);
  return made;
}

template <typename T>
std::vector<T> counted(std::size_t n) {
  std::vector<T> values(n);
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

std::span<const std::byte> text(const char* chars) {
  return {reinterpret_cast<const std::byte*>(chars), std::strlen(chars)};
}

}  // namespace

TEST_CASE("a digest is XXH3's with 128 bits and no seed") {
  CHECK(to_text(digest_of_packed({})) == "99aa06d3014798d86001c324468d497f");
  CHECK(to_text(digest_of_packed(text("abc"))) == "06b05ab6733a618578af5f94892f3950");
}

TEST_CASE("one bit makes another digest") {
  need_mpi();
  auto values = counted<int>(1000);
  const Digest128 before = digest_of(values.data(), 1000, MPI_INT);
  values[999] ^= 1 << 30;
  CHECK(digest_of(values.data(), 1000, MPI_INT) != before);
  values[999] ^= 1 << 30;
  CHECK(digest_of(values.data(), 1000, MPI_INT) == before);
}

TEST_CASE("nothing has the digest of nothing, whatever the datatype") {
  need_mpi();
  const Type column(vector_of(4, 1, 4, MPI_DOUBLE));
  CHECK(digest_of(nullptr, 0, MPI_INT) == digest_of_packed({}));
  CHECK(digest_of(nullptr, 0, column) == digest_of_packed({}));
  const Type empty(vector_of(0, 1, 1, MPI_DOUBLE));
  CHECK(digest_of(nullptr, 5, empty) == digest_of_packed({}));
}

TEST_CASE("equal data have equal digests, however they lie in memory") {
  need_mpi();
  const auto dense = counted<double>(30000);
  std::vector<double> spread(60000, -1);
  for (std::size_t i = 0; i < dense.size(); ++i) spread[2 * i] = dense[i];
  const Digest128 expected = digest_of(dense.data(), 30000, MPI_DOUBLE);
  SUBCASE("in many small elements, that is in several pieces") {
    MPI_Datatype resized = MPI_DATATYPE_NULL;
    PMPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &resized);
    const Type every_other(resized);
    CHECK(digest_of(spread.data(), 30000, every_other) == expected);
  }
  SUBCASE("in one large element") {
    const Type all(vector_of(30000, 1, 2, MPI_DOUBLE));
    CHECK(digest_of(spread.data(), 1, all) == expected);
  }
  SUBCASE("gaps do not count") {
    const Type all(vector_of(30000, 1, 2, MPI_DOUBLE));
    spread[1] = 17;
    CHECK(digest_of(spread.data(), 1, all) == expected);
    spread[2] = 17;
    CHECK(digest_of(spread.data(), 1, all) != expected);
  }
}

TEST_CASE("a datatype of absolute addresses is read from MPI_BOTTOM") {
  need_mpi();
  const auto values = counted<int>(8);
  MPI_Aint address = 0;
  PMPI_Get_address(values.data(), &address);
  const int length = 8;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_create_hindexed(1, &length, &address, MPI_INT, &made);
  const Type absolute(made);
  CHECK(digest_of(MPI_BOTTOM, 1, absolute) == digest_of(values.data(), 8, MPI_INT));
}

TEST_CASE("a message shorter than the buffer has the digest of what was sent") {
  need_mpi();
  const auto sent = counted<double>(5);
  const Digest128 expected = digest_of(sent.data(), 5, MPI_DOUBLE);
  const auto buffer = counted<double>(100);
  CHECK(digest_of_received(buffer.data(), layout_of(MPI_DOUBLE, 100), 40) == expected);
  const Type pairs(vector_of(2, 1, 2, MPI_DOUBLE));  // 3 doubles wide; the fifth is half of one
  std::vector<double> spread(30, -1);
  const std::array<std::size_t, 5> places{0, 2, 3, 5, 6};
  for (std::size_t i = 0; i < places.size(); ++i) spread[places[i]] = sent[i];
  CHECK(digest_of_received(spread.data(), layout_of(pairs, 10), 40) == expected);
}

TEST_CASE("the padding of a long double does not count, its value does") {
  need_mpi();
  if (std::numeric_limits<long double>::digits != 64) return;  // this machine's has none
  std::array<unsigned char, 3 * sizeof(long double)> a{};
  std::array<unsigned char, 3 * sizeof(long double)> b{};
  const std::array<long double, 3> values{1.5L, -2.25L, 1e4000L};
  a.fill(0x55);
  b.fill(0xaa);
  for (std::size_t i = 0; i < 3; ++i) {
    std::memcpy(a.data() + i * sizeof(long double), &values[i], 10);
    std::memcpy(b.data() + i * sizeof(long double), &values[i], 10);
  }
  const Digest128 digest = digest_of(a.data(), 3, MPI_LONG_DOUBLE);
  CHECK(digest == digest_of(b.data(), 3, MPI_LONG_DOUBLE));
  CHECK(digest == digest_of_packed(std::as_bytes(std::span(a)), Padding::of(MPI_LONG_DOUBLE)));
  b[sizeof(long double) + 9] ^= 1;
  CHECK(digest != digest_of(b.data(), 3, MPI_LONG_DOUBLE));
}

namespace {

// Two of them, and in each nothing is the same but what was written: an int, two long doubles, and
// a value with its place.
struct Mixed {
  int number;
  std::array<long double, 2> values;
  struct {
    long double value;
    int place;
  } found;
};

MPI_Datatype mixed() {
  const std::array lengths{1, 2, 1};
  const std::array<MPI_Aint, 3> places{offsetof(Mixed, number), offsetof(Mixed, values),
                                       offsetof(Mixed, found)};
  const std::array parts{MPI_INT, MPI_LONG_DOUBLE, MPI_LONG_DOUBLE_INT};
  MPI_Datatype narrow = MPI_DATATYPE_NULL;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_create_struct(3, lengths.data(), places.data(), parts.data(), &narrow);
  PMPI_Type_create_resized(narrow, 0, sizeof(Mixed), &made);
  PMPI_Type_free(&narrow);
  return made;
}

void put(std::array<unsigned char, 2 * sizeof(Mixed)>& into, unsigned char around) {
  into.fill(around);
  const long double value = 1.5L;
  const int number = 7;
  for (std::size_t i = 0; i < 2; ++i) {
    unsigned char* const at = into.data() + i * sizeof(Mixed);
    std::memcpy(at + offsetof(Mixed, number), &number, sizeof number);
    for (std::size_t k = 0; k < 2; ++k)
      std::memcpy(at + offsetof(Mixed, values) + k * sizeof value, &value, 10);
    std::memcpy(at + offsetof(Mixed, found.value), &value, 10);
    std::memcpy(at + offsetof(Mixed, found.place), &number, sizeof number);
  }
}

}  // namespace

TEST_CASE("nor does that of long doubles inside of other datatypes") {
  need_mpi();
  if (std::numeric_limits<long double>::digits != 64) return;
  const Type both(mixed());
  std::array<unsigned char, 2 * sizeof(Mixed)> a{};
  std::array<unsigned char, 2 * sizeof(Mixed)> b{};
  put(a, 0x55);
  put(b, 0xaa);
  const Digest128 digest = digest_of(a.data(), 2, both);
  CHECK(digest == digest_of(b.data(), 2, both));
  std::vector<std::byte> storage;
  CHECK(digest ==
        digest_of_packed(packed(b.data(), layout_of(both, 2), storage), Padding::of(both)));
  const auto is_found = [&](std::size_t place) {
    b[place] ^= 1;
    const bool differs = digest_of(b.data(), 2, both) != digest;
    b[place] ^= 1;
    return differs;
  };
  CHECK(is_found(offsetof(Mixed, number)));
  CHECK(is_found(sizeof(Mixed) + offsetof(Mixed, values) + sizeof(long double) + 9));
  CHECK(is_found(offsetof(Mixed, found.place)));
  CHECK(!is_found(offsetof(Mixed, values) + 10));
}

TEST_CASE("what is made of long doubles alone is padded as they are") {
  need_mpi();
  if (std::numeric_limits<long double>::digits != 64) return;
  const Type every_other(vector_of(50, 1, 2, MPI_LONG_DOUBLE));
  CHECK(Padding::of(every_other).runs().size() == 2);
  const Type doubles(vector_of(50, 1, 2, MPI_DOUBLE));
  CHECK(!Padding::of(doubles).has_any());
  MPI_Datatype of_fortran = MPI_DATATYPE_NULL;  // not to be freed
  PMPI_Type_create_f90_real(18, MPI_UNDEFINED, &of_fortran);
  CHECK(Padding::of(of_fortran).has_any());
}

TEST_CASE("several buffers have the digest of all their data, one behind the other") {
  need_mpi();
  const auto values = counted<int>(6);
  const std::array<int, 8> apart{1, 2, 3, 0, 0, 4, 5, 6};
  const std::array<Piece, 2> pieces{Piece::of(apart.data(), 3, MPI_INT),
                                    Piece::of(apart.data() + 5, 3, MPI_INT)};
  CHECK(digest_of(pieces) == digest_of(values.data(), 6, MPI_INT));
  CHECK(digest_of(std::span<const Piece>{}) == digest_of_packed({}));
}

// Images of checkpoints: what is put back is what was kept, and what is damaged is no image.
#include "runtime/checkpoints/image.hpp"

#include <cstring>
#include <numeric>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

using Bytes = std::vector<std::byte>;

// FNV-1a.
std::uint64_t digest(std::span<const std::byte> block) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const std::byte byte : block) sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return sum;
}

struct KeptImage {
  explicit KeptImage(const std::vector<std::size_t>& sizes) {
    std::size_t seed = 1;
    for (const std::size_t size : sizes) {
      Bytes& region = memory.emplace_back(size);
      for (std::byte& byte : region) byte = std::byte(seed = seed * 75 % 65537);
    }
    for (Bytes& region : memory) regions.emplace_back(region);
    image.resize(image_bytes(regions));
    write_image(image, {7, 6, 2, 4}, regions, digest);
  }

  std::vector<Bytes> memory;
  std::vector<std::span<std::byte>> regions;
  Bytes image;
};

const std::vector<std::size_t> uneven{1, 3 * image_block_bytes + 5, 8, 70'000};

TEST_CASE("what is put back is what was kept") {
  for (const auto& sizes : {uneven, {}, {image_block_bytes}, {image_block_bytes + 1}}) {
    KeptImage kept(sizes);
    const std::vector<Bytes> before = kept.memory;
    for (Bytes& region : kept.memory) std::memset(region.data(), 0x5a, region.size());
    const auto image = read_image(kept.image, digest);
    REQUIRE(image);
    CHECK(image->name.generation == 7);
    CHECK(image->name.counted == 6);
    CHECK(image->name.rank == 2);
    CHECK(image->all.size() == kept.image.size());
    REQUIRE(fits(*image, kept.regions));
    put_back(*image, kept.regions);
    CHECK(kept.memory == before);
  }
}

TEST_CASE("no image is read of one in which a byte is wrong") {
  KeptImage kept(uneven);
  const auto image = read_image(kept.image, digest);
  REQUIRE(image);
  // Header, table and data; what lies between is not read.
  std::vector<std::size_t> places(104);
  std::iota(places.begin(), places.end(), 0);
  const auto data_at = static_cast<std::size_t>(image->data.data() - kept.image.data());
  for (std::size_t at = data_at; at < kept.image.size(); at += 37'199) places.push_back(at);
  places.push_back(kept.image.size() - 1);
  for (const std::size_t at : places) {
    CAPTURE(at);
    kept.image[at] ^= std::byte{0x10};
    CHECK_FALSE(read_image(kept.image, digest));
    kept.image[at] ^= std::byte{0x10};
  }
  CHECK(read_image(kept.image, digest));
}

TEST_CASE("no image is read of a part of one, of nothing, or of zeros") {
  const KeptImage kept(uneven);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{8}, std::size_t{4096}, kept.image.size() - 1})
    CHECK_FALSE(read_image(std::span(kept.image).first(bytes), digest));
  CHECK_FALSE(read_image(Bytes(kept.image.size()), digest));
}

TEST_CASE("an image fits the regions that it is of, and no others") {
  KeptImage kept(uneven);
  const auto image = read_image(kept.image, digest);
  REQUIRE(image);
  auto others = kept.regions;
  others.pop_back();
  CHECK_FALSE(fits(*image, others));
  others.push_back(kept.regions.back().first(69'999));
  CHECK_FALSE(fits(*image, others));
}

}  // namespace
}  // namespace resprout::runtime

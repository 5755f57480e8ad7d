// One rank's part of a checkpoint, as it lies in memory that outlives the process, or in a file.
//
//   header | size of each region | digest of each block | data, from the next page on
//
// Invariants
//  1. What is half written, cut off or damaged is no image: the digest in the header covers the
//     header, the sizes and the digests of the blocks, and each of these covers its block.
//  2. Numbers have the order of bytes of the machine that wrote them.
//
// Thread rule: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace resprout::runtime {

using BlockDigest = std::uint64_t (*)(std::span<const std::byte> block);
using ConstRegions = std::span<const std::span<std::byte>>;

// What an image is of.
struct ImageName {
  std::uint64_t generation = 0;  // of the job's checkpoints, from 1
  std::uint64_t counted = 0;     // the newest that was known to be whole when this was written
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
};

struct Image {
  ImageName name;
  std::span<const std::uint64_t> sizes;    // of the regions
  std::span<const std::uint64_t> digests;  // of the blocks of data
  std::span<const std::byte> data;         // of all regions, one behind the other
  std::span<const std::byte> all;          // the image itself

  // What stands before the data.
  std::span<const std::byte> head() const { return all.first(all.size() - data.size()); }
};

constexpr std::size_t image_block_bytes = 128 << 10;

// How long the image of these regions is.
std::size_t image_bytes(ConstRegions regions);
// Until it returns there is no image at `into`. REQUIRES: image_bytes(regions) bytes, on 8.
void write_image(std::span<std::byte> into, const ImageName& name, ConstRegions regions,
                 BlockDigest digest);
// Nothing: there is none. The spans are parts of `from`. REQUIRES: `from` lies on 8 bytes.
std::optional<Image> read_image(std::span<const std::byte> from, BlockDigest digest);

// As read_image(), but nobody looks at the data: they may be damaged.
std::optional<Image> read_head(std::span<const std::byte> from, BlockDigest digest);

// As read_image(), without a look whether anything is damaged. REQUIRES: an image, or its head()
// with as much room behind it as there are data.
Image view_image(std::span<const std::byte> from);

// What begins at `into` is no image any more. REQUIRES: 4096 bytes.
void spoil_image(std::span<std::byte> into);

// The regions have these sizes, in this order.
bool fits(const Image& image, ConstRegions regions);
// REQUIRES: fits().
void put_back(const Image& image, ConstRegions regions);

}  // namespace resprout::runtime

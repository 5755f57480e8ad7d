#include "runtime/checkpoints/image.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/invariant.hpp"
#include "runtime/checkpoints/copy_past_caches.hpp"

namespace resprout::runtime {
namespace {

constexpr std::uint64_t image_magic = 0x31746e696f706b63;  // "ckpoint1"
constexpr std::size_t image_page_bytes = 4096;

struct ImageHeader {
  std::uint64_t magic = 0;
  std::uint64_t digest = 0;  // of everything up to the data, with 0 here
  std::uint64_t data_bytes = 0;
  std::uint64_t regions = 0;
  ImageName name;
};

std::size_t blocks_of(std::size_t bytes) {
  return bytes / image_block_bytes + (bytes % image_block_bytes > 0 ? 1 : 0);
}

std::size_t table_bytes(std::size_t regions, std::size_t data_bytes) {
  return (regions + blocks_of(data_bytes)) * sizeof(std::uint64_t);
}

std::size_t data_at(std::size_t regions, std::size_t data_bytes) {
  const std::size_t bytes = sizeof(ImageHeader) + table_bytes(regions, data_bytes);
  return (bytes + image_page_bytes - 1) / image_page_bytes * image_page_bytes;
}

std::size_t sum_of(ConstRegions regions) {
  std::size_t sum = 0;
  for (const auto& region : regions) sum += region.size();
  return sum;
}

std::uint64_t digest_of_head(ImageHeader header, std::span<const std::byte> table,
                             BlockDigest digest) {
  header.digest = 0;
  const std::uint64_t parts[] = {digest(std::as_bytes(std::span(&header, 1))), digest(table)};
  return digest(std::as_bytes(std::span(parts)));
}

// Of what has the form of an image.
std::optional<Image> find_parts(std::span<const std::byte> from) {
  ImageHeader header;
  if (from.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, from.data(), sizeof header);
  const std::size_t room = from.size() - sizeof header;
  if (header.magic != image_magic || header.data_bytes > room ||
      header.regions > room / sizeof(std::uint64_t))
    return std::nullopt;
  const std::size_t head = data_at(header.regions, header.data_bytes);
  if (head > from.size() || header.data_bytes > from.size() - head) return std::nullopt;
  const auto* numbers = reinterpret_cast<const std::uint64_t*>(from.data() + sizeof header);
  return Image{.name = header.name,
               .sizes = {numbers, header.regions},
               .digests = {numbers + header.regions, blocks_of(header.data_bytes)},
               .data = from.subspan(head, header.data_bytes),
               .all = from.first(head + header.data_bytes)};
}

// Takes the regions' bytes one after the other.
class RegionReader {
 public:
  explicit RegionReader(ConstRegions regions) : regions_(regions) {}

  // Where the same bytes are, and in a cache, if that is at one place.
  std::span<const std::byte> read(std::span<std::byte> into) {
    std::span<const std::byte> source = into;
    for (auto rest = into; !rest.empty();) {
      const std::span<std::byte> region = regions_[at_];
      const std::size_t bytes = std::min(rest.size(), region.size() - offset_);
      if (bytes > 0) copy_past_caches(rest.data(), region.data() + offset_, bytes);
      if (bytes == into.size()) source = region.subspan(offset_, bytes);
      rest = rest.subspan(bytes);
      offset_ += bytes;
      if (offset_ < region.size()) continue;
      ++at_;
      offset_ = 0;
    }
    return source;
  }

 private:
  const ConstRegions regions_;
  std::size_t at_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace

std::size_t image_bytes(ConstRegions regions) {
  const std::size_t bytes = sum_of(regions);
  return data_at(regions.size(), bytes) + bytes;
}

void write_image(std::span<std::byte> into, const ImageName& name, ConstRegions regions,
                 BlockDigest digest) {
  RESPROUT_INVARIANT(into.size() >= image_bytes(regions));
  spoil_image(into);
  ImageHeader header{image_magic, 0, sum_of(regions), regions.size(), name};
  const auto table = into.subspan(sizeof header, table_bytes(regions.size(), header.data_bytes));
  std::byte* entry = table.data();
  const auto add = [&](std::uint64_t number) {
    std::memcpy(entry, &number, sizeof number);
    entry += sizeof number;
  };
  for (const auto& region : regions) add(region.size());
  RegionReader reader(regions);
  auto rest = into.subspan(data_at(regions.size(), header.data_bytes), header.data_bytes);
  while (!rest.empty()) {
    const auto block = rest.first(std::min(rest.size(), image_block_bytes));
    add(digest(reader.read(block)));
    rest = rest.subspan(block.size());
  }
  header.digest = digest_of_head(header, table, digest);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::memcpy(into.data(), &header, sizeof header);
}

void spoil_image(std::span<std::byte> into) {
  const ImageHeader nothing;
  std::memcpy(into.data(), &nothing, sizeof nothing);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

std::optional<Image> read_head(std::span<const std::byte> from, BlockDigest digest) {
  const std::optional<Image> image = find_parts(from);
  if (!image) return std::nullopt;
  ImageHeader header;
  std::memcpy(&header, from.data(), sizeof header);
  const auto table = from.subspan(sizeof header, table_bytes(header.regions, header.data_bytes));
  if (digest_of_head(header, table, digest) != header.digest) return std::nullopt;
  return image;
}

std::optional<Image> read_image(std::span<const std::byte> from, BlockDigest digest) {
  const std::optional<Image> image = read_head(from, digest);
  if (!image) return std::nullopt;
  auto rest = image->data;
  for (const std::uint64_t expected : image->digests) {
    const auto block = rest.first(std::min(rest.size(), image_block_bytes));
    if (digest(block) != expected) return std::nullopt;
    rest = rest.subspan(block.size());
  }
  return image;
}

Image view_image(std::span<const std::byte> from) {
  const std::optional<Image> image = find_parts(from);
  RESPROUT_INVARIANT(image.has_value());
  return *image;
}

bool fits(const Image& image, ConstRegions regions) {
  return std::equal(image.sizes.begin(), image.sizes.end(), regions.begin(), regions.end(),
                    [](std::uint64_t size, const auto& region) { return size == region.size(); });
}

void put_back(const Image& image, ConstRegions regions) {
  RESPROUT_INVARIANT(fits(image, regions));
  auto rest = image.data;
  for (const auto& region : regions) {
    if (!region.empty()) std::memcpy(region.data(), rest.data(), region.size());
    rest = rest.subspan(region.size());
  }
}

}  // namespace resprout::runtime

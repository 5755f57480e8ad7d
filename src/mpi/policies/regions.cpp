#include "mpi/policies/regions.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "core/invariant.hpp"
#include "mpi/policies/digests/digest.hpp"

namespace resprout::shim {
namespace {

using Region = std::span<std::byte>;

bool is_same(const Region& a, const Region& b) {
  return a.data() == b.data() && a.size() == b.size();
}

}  // namespace

void Regions::protect(void* begin, std::size_t bytes) {
  const Region region(static_cast<std::byte*>(begin), bytes);
  const auto at = std::find_if(regions_.begin(), regions_.end(),
                               [&](const Region& it) { return it.data() == region.data(); });
  if (at == regions_.end()) {
    if (bytes > 0) regions_.push_back(region);
  } else if (bytes > 0) {
    *at = region;
  } else {
    regions_.erase(at);
  }
}

std::size_t Regions::bytes() const {
  std::size_t sum = 0;
  for (const Region& region : regions_) sum += region.size();
  return sum;
}

void Regions::flip(std::uint64_t bit) {
  RESPROUT_INVARIANT(bytes() > 0);
  bit %= bytes() * CHAR_BIT;
  std::size_t byte = bit / CHAR_BIT;
  for (const Region& region : regions_) {
    if (byte < region.size()) {
      region[byte] ^= std::byte{1} << (bit % CHAR_BIT);
      return;
    }
    byte -= region.size();
  }
}

std::uint64_t Regions::digest() const {
  std::vector<std::uint64_t> all;
  for (const Region& region : regions_) {
    all.push_back(region.size());
    all.push_back(digest_of_packed(region).low);
  }
  return digest_of_packed(std::as_bytes(std::span(all))).low;
}

Regions::Copy Regions::copy() const {
  Copy copy;
  copy.regions_ = regions_;
  append_to(copy.bytes_);
  return copy;
}

void Regions::append_to(std::vector<std::byte>& bytes) const {
  bytes.reserve(bytes.size() + this->bytes());
  for (const Region& region : regions_) bytes.insert(bytes.end(), region.begin(), region.end());
}

void Regions::fill(std::span<const std::byte> bytes) {
  RESPROUT_INVARIANT(bytes.size() == this->bytes());
  for (const Region& region : regions_) {
    if (!region.empty()) std::memcpy(region.data(), bytes.data(), region.size());
    bytes = bytes.subspan(region.size());
  }
}

bool Regions::has_all_of(const Copy& copy) const {
  return std::all_of(copy.regions_.begin(), copy.regions_.end(), [&](const Region& kept) {
    return std::any_of(regions_.begin(), regions_.end(),
                       [&](const Region& region) { return is_same(kept, region); });
  });
}

void Regions::restore(const Copy& copy) {
  RESPROUT_INVARIANT(has_all_of(copy));
  regions_ = copy.regions_;
  fill(copy.bytes_);
}

Regions& protected_regions() {
  static auto* instance = new Regions;
  return *instance;
}

}  // namespace resprout::shim

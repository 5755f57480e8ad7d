// The memory that the program has protected: what a checkpoint keeps.
//
// Thread rule: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace resprout::shim {

class Regions {
 public:
  // What was there at one moment.
  class Copy {
   public:
    std::size_t bytes() const { return bytes_.size(); }

   private:
    friend class Regions;
    std::vector<std::span<std::byte>> regions_;
    std::vector<std::byte> bytes_;  // of all regions, one behind the other
  };

  // So many bytes from `begin` on, in place of those that began there; 0: none.
  void protect(void* begin, std::size_t bytes);
  // Of all regions.
  std::size_t bytes() const;
  // In the order in which they were protected first.
  std::span<const std::span<std::byte>> parts() const { return regions_; }
  // Flips a bit of what one gets by laying all regions one behind the other, modulo their number
  // of bits. REQUIRES: bytes() > 0.
  void flip(std::uint64_t bit);

  // XXH3 of sizes and bytes, in the order in which they were protected first.
  std::uint64_t digest() const;
  Copy copy() const;
  // All bytes, one region behind the other; and back. REQUIRES: as many as there are.
  void append_to(std::vector<std::byte>& bytes) const;
  void fill(std::span<const std::byte> bytes);
  // Whether all of its regions are still protected, as they were: what is not may be freed memory.
  bool has_all_of(const Copy& copy) const;
  // Puts it back; regions that were added since are no longer protected. REQUIRES: has_all_of().
  void restore(const Copy& copy);

 private:
  std::vector<std::span<std::byte>> regions_;
};

// Of this process.
Regions& protected_regions();

}  // namespace resprout::shim

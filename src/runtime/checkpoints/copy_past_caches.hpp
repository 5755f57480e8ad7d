// Copying what nobody reads soon, as checkpoints are.
//
// Stores past the caches need not fetch the lines that they write over. Four pages go at a time,
// so that memory has more than one row to answer from: 64 MiB take as long as by one memcpy of
// glibc, which does the same with so much. What was read stays in the caches, for a checksum.
//
// Thread rule: pure.
#pragma once

#include <cstddef>

namespace resprout::runtime {

// As memcpy.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace resprout::runtime

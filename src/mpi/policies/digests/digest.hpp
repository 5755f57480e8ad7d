// Digests of what messages say: XXH3 with 128 bits of the packed data.
//
// Two processes that send or receive the same message get the same digest, however it lies in their
// memory; gaps between elements do not count. What is compared is bits: two NaN may differ, and so
// may 0 and -0. What pads a long double does not count (padding.hpp). Of a struct that is sent as
// MPI_BYTE nobody knows which bytes are gaps.
//
// Lazy Fault Detection for Redundant MPI, section 4.1 ("hashes of each received buffer"), 4.2.
// Thread rule: from any thread from which MPI may be called; dense data from any.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "mpi/handles/datatypes/type_padding.hpp"
#include "mpi/policies/digests/xxh3.hpp"

namespace resprout::shim {

// 32 hexadecimal digits, the highest first, as `xxhsum -H2` writes them.
std::string to_text(const Digest128& digest);

// Of a send buffer. Nothing is copied if the datatype is dense; else at most 64 KiB at a time, or
// one element. REQUIRES: no element that is not dense has 2 GiB and more.
Digest128 digest_of(const void* buffer, int count, MPI_Datatype datatype);
Digest128 digest_of(const void* buffer, const Layout& layout);

// Of a receive buffer for `layout` into which a message of `bytes` packed bytes has come; it may be
// shorter than the buffer. Equal to the sender's digest_of. REQUIRES: bytes <= layout.packed_bytes.
Digest128 digest_of_received(const void* buffer, const Layout& layout, std::size_t bytes);

// Of several buffers, one behind the other.
Digest128 digest_of(std::span<const Piece> pieces);

// Of data that are packed already.
Digest128 digest_of_packed(std::span<const std::byte> data, const Padding& padding = {});
// As digest_of(pieces), of what packed(pieces) makes of them or of others like them. Looks at none
// of their buffers.
Digest128 digest_of_packed(std::span<const std::byte> data, std::span<const Piece> pieces);

}  // namespace resprout::shim

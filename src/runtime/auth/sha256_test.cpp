#include "runtime/auth/sha256.hpp"

#include <string>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::runtime::auth {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes text(const std::string& characters) { return {characters.begin(), characters.end()}; }

std::string hex(const Digest& digest) {
  std::string out;
  for (const std::uint8_t byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

TEST_CASE("SHA-256 gives the digests of FIPS 180-4") {
  CHECK(hex(sha256(text(""))) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex(sha256(text("abc"))) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(sha256(text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hex(sha256(Bytes(1000000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("HMAC-SHA256 gives the codes of RFC 4231") {
  const auto code = [](const Bytes& key, const Bytes& data) { return hex(hmac_sha256(key, data)); };
  CHECK(code(Bytes(20, 0x0b), text("Hi There")) ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(code(text("Jefe"), text("what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(code(Bytes(20, 0xaa), Bytes(50, 0xdd)) ==
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  Bytes counting(25);
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<std::uint8_t>(i + 1);
  CHECK(code(counting, Bytes(50, 0xcd)) ==
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  CHECK(code(Bytes(20, 0x0c), text("Test With Truncation")).substr(0, 32) ==
        "a3b6167473100ee06e0c796c2955552b");
  CHECK(code(Bytes(131, 0xaa), text("Test Using Larger Than Block-Size Key - Hash Key First")) ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(code(Bytes(131, 0xaa),
             text("This is a test using a larger than block-size key and a larger than "
                  "block-size data. The key needs to be hashed before being used by the HMAC "
                  "algorithm.")) ==
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST_CASE("digests are equal only if every byte is") {
  const Digest digest = sha256(text("abc"));
  CHECK(is_equal(digest, digest));
  for (std::size_t i = 0; i < digest.size(); ++i) {
    Digest other = digest;
    other[i] ^= 0x10;
    CHECK_FALSE(is_equal(digest, other));
  }
}

}  // namespace
}  // namespace resprout::runtime::auth

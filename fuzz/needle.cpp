// No parser, but a haystack: an input that the driver has to find, of which a test makes sure that
// it does.
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint32_t number = 0;
  if (size < 7) return 0;
  std::memcpy(&number, data, sizeof number);
  if (number != 0x1badf00d) return 0;
  if (data[4] != 'R') return 0;
  if (data[5] == '!' && data[6] == size) std::abort();
  return 0;
}

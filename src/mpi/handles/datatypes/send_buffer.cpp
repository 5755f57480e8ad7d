#include "mpi/handles/datatypes/send_buffer.hpp"

#include <climits>

namespace resprout::shim {

bool is_copyable(const Layout& layout) {
  return layout.is_dense || layout.packed_bytes <= std::size_t{INT_MAX};
}

SendBuffer copy_of(const SendBuffer& buffer, const Layout& layout, std::vector<std::byte>& bytes) {
  std::vector<std::byte> storage;
  const auto data = packed(buffer.data, layout, storage);
  bytes.assign(data.begin(), data.end());
  if (layout.is_dense) return {bytes.data(), buffer.count, buffer.datatype};
  return {bytes.data(), static_cast<int>(bytes.size()), MPI_PACKED};
}

}  // namespace resprout::shim

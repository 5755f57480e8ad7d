// Copies of files: by reference, if the file system can, else of the bytes.
// Thread rule: pure.
#pragma once

#include <string>

namespace resprout::shim {

// `to` becomes what `from` is: contents and mode bits; what it was is overwritten. 0, or errno.
int copy_file(const std::string& from, const std::string& to);

}  // namespace resprout::shim

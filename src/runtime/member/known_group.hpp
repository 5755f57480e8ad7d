// What a member keeps on disk of its group: where the others listen, a HOST:PORT a line. A process
// that is started again with nobody to join asks these, before it founds a group of its own.
//
// Thread rule: functions; they read and write the file.
#pragma once

#include <string>
#include <vector>

#include "runtime/member/wire.hpp"

namespace resprout::runtime::member {

// Empty if there is no such file, or it cannot be read. Lines that are no address are left out.
std::vector<Address> read_group(const std::string& path);

// Replaces the file as a whole: a reader sees the old one or the new one. False: not written.
bool write_group(const std::string& path, const std::vector<Address>& others);

}  // namespace resprout::runtime::member

// Texts that tell one way through a world: reading and writing them (play.hpp says what is in
// them). Thread rule: pure functions, but for the file that is read or written.
#pragma once

#include <string>
#include <variant>

#include "sim/exhaustive/play.hpp"

namespace resprout::sim {

// The script, or what is wrong with the file.
std::variant<Script, std::string> read_script(const std::string& path);

// The text of the script with these traces.
std::string text_of(const Script& script, const std::vector<std::vector<std::string>>& traces);

// Whether its own traces are these.
bool are_as_told(const Script& script, const std::vector<std::vector<std::string>>& traces);

}  // namespace resprout::sim

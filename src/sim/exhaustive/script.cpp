// See script.hpp.
#include "sim/exhaustive/script.hpp"

#include <fstream>
#include <sstream>

namespace resprout::sim {
namespace {

// Nothing: a word is no number.
std::optional<Command> parse_command(const std::string& line) {
  std::istringstream words(line.substr(0, line.find('#')));
  Command command;
  words >> command.word;
  int number = 0;
  while (words >> number) command.numbers.push_back(number);
  if (!words.eof()) return std::nullopt;
  return command;
}

}  // namespace

std::variant<Script, std::string> read_script(const std::string& path) {
  std::ifstream file(path);
  if (!file) return "cannot read " + path;
  Script script{.path = path, .head = {}, .options = {}, .blocks = {}};
  bool is_trace = false;
  bool is_new = true;
  std::string line;
  while (std::getline(file, line)) {
    const bool is_empty = line.empty();
    if (script.options.empty()) {
      script.head.push_back(line);
      if (line.starts_with("case ")) script.options = line.substr(5);
    } else if (is_empty) {
      is_trace = false;
      is_new = true;
    } else if (line == "----") {
      is_trace = true;
    } else if (is_trace) {
      script.blocks.back().trace.push_back(line);
    } else {
      if (is_new) script.blocks.emplace_back();
      is_new = false;
      script.blocks.back().lines.push_back(line);
      if (line.starts_with('#')) continue;
      const auto command = parse_command(line);
      if (!command) return std::string(path).append(": cannot read '").append(line).append("'");
      script.blocks.back().commands.push_back(*command);
    }
  }
  if (script.options.empty()) return path + ": has no line 'case OPTIONS'";
  return script;
}

std::string text_of(const Script& script, const std::vector<std::vector<std::string>>& traces) {
  std::string text;
  for (const std::string& line : script.head) text += line + '\n';
  for (std::size_t i = 0; i < script.blocks.size(); ++i) {
    text += '\n';
    for (const std::string& line : script.blocks[i].lines) text += line + '\n';
    text += "----\n";
    for (const std::string& line : traces[i]) text += line + '\n';
  }
  return text;
}

bool are_as_told(const Script& script, const std::vector<std::vector<std::string>>& traces) {
  for (std::size_t i = 0; i < script.blocks.size(); ++i)
    if (script.blocks[i].trace != traces[i]) return false;
  return true;
}

}  // namespace resprout::sim

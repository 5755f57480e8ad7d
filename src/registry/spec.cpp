#include "registry/spec.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace resprout::registry {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (end == text.size()) return parts;
    begin = end + 1;
  }
}

template <typename Range>
std::string names(const Range& range) {
  std::string joined;
  for (const auto& thing : range) {
    if (!joined.empty()) joined += ", ";
    joined += thing.name;
  }
  return joined;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::optional<std::int32_t> integer(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The number, or the index of the word; nothing if `text` is no valid value.
std::optional<std::int32_t> value_of(const Option& option, std::string_view text) {
  const std::size_t dots = option.values.find("..");
  if (dots != std::string_view::npos) {
    const auto value = integer(text);
    const bool is_within = value && *value >= *integer(option.values.substr(0, dots)) &&
                           *value <= *integer(option.values.substr(dots + 2));
    return is_within ? value : std::nullopt;
  }
  const auto words = split(option.values, '|');
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) return std::nullopt;
  return static_cast<std::int32_t>(found - words.begin());
}

std::string valid_values(const Option& option) {
  const std::size_t dots = option.values.find("..");
  if (dots != std::string_view::npos)
    return "a number from " + std::string(option.values.substr(0, dots)) + " to " +
           std::string(option.values.substr(dots + 2));
  std::string list = "one of ";
  for (const std::string_view word : split(option.values, '|'))
    list += (list.back() == ' ' ? "" : ", ") + std::string(word);
  return list;
}

// What single options cannot know of each other; empty if they agree.
std::string conflict(const Spec& spec) {
  const bool is_grown = spec.tree == TreeKind::lame || spec.tree == TreeKind::optimal;
  if (is_grown && spec.numbering == topology::Numbering::in_order)
    return "numbering=in-order: lame and optimal trees are interleaved; valid with them: "
           "interleaved";
  const bool has_tree =
      spec.protocol != ProtocolId::corrected_gossip &&
      spec.protocol != ProtocolId::reliable_gossip && spec.protocol != ProtocolId::membership &&
      spec.protocol != ProtocolId::native_until_loss && spec.protocol != ProtocolId::digest_vote &&
      spec.protocol != ProtocolId::decision_log && spec.protocol != ProtocolId::revoke &&
      spec.protocol != ProtocolId::shared_slots && spec.protocol != ProtocolId::agree &&
      spec.protocol != ProtocolId::link_watch;
  if (spec.gossip.late == protocols::Late::end && spec.gossip.rounds != 0)
    return "late=end: gossip that ends by rounds has no time to be late for; give time= instead";
  if (spec.roots == Roots::doubling && spec.detection == Detection::in_band)
    return "roots=doubling: with detection=in-band there are one root or k; give single or multi";
  if (!has_tree) return "";
  if (spec.protocol == ProtocolId::multi_tree) {
    if (spec.trees > 1 && spec.k <= spec.trees)
      return "k=" + std::to_string(spec.k) + ": for " + std::to_string(spec.trees) +
             " trees with different inner nodes it is " + std::to_string(spec.trees + 1) +
             " at least";
    return "";
  }
  if (spec.tree == TreeKind::knomial && spec.k < 2)
    return "k=" + std::to_string(spec.k) + ": the radix of a k-nomial tree is 2 at least";
  if (spec.tree == TreeKind::binomial && spec.k != 2)
    return "k=" + std::to_string(spec.k) + ": a binomial tree has k=2; others: kary, knomial, lame";
  return "";
}

}  // namespace

std::string_view current_name(std::string_view name) {
  return name == "lanes" ? "shared-slots" : name;
}

std::variant<Spec, std::string> parse(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = current_name(text.substr(0, colon));
  const auto all = all_protocols();
  const auto protocol =
      std::find_if(all.begin(), all.end(), [&](const Protocol& p) { return p.name == name; });
  if (protocol == all.end())
    return "protocol " + quoted(name) + " is unknown; there are " + names(all);

  Spec spec{};
  spec.protocol = protocol->id;
  for (const Option& option : protocol->options)
    option.set(spec, *value_of(option, option.fallback));
  if (colon == text.size()) return spec;

  std::vector<std::string_view> given;
  for (const std::string_view part : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    const auto option = std::find_if(protocol->options.begin(), protocol->options.end(),
                                     [&](const Option& o) { return o.name == key; });
    const std::string where = std::string(name) + ": ";
    if (option == protocol->options.end())
      return where + "option " + quoted(key) + " is unknown; there are " + names(protocol->options);
    if (std::find(given.begin(), given.end(), key) != given.end())
      return where + "option " + quoted(key) + " is given twice";
    given.push_back(key);
    const auto number = value_of(*option, value);
    if (!number)
      return where + std::string(key) + "=" + quoted(value) + " is not " + valid_values(*option);
    option->set(spec, *number);
  }
  const std::string wrong = conflict(spec);
  if (!wrong.empty()) return std::string(name) + ": " + wrong;
  return spec;
}

}  // namespace resprout::registry

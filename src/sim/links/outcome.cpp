// See outcome.hpp.
#include "sim/links/outcome.hpp"

namespace resprout::sim {

std::optional<std::string> check_links(std::span<const LinksOutcome> outcomes, int cuts_made) {
  int host_that_goes = -1;
  bool has_anybody_died = false;
  for (const LinksOutcome& outcome : outcomes) has_anybody_died |= outcome.has_died;
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const LinksOutcome& outcome = outcomes[rank];
    if (outcome.is_survivor && !outcome.has_ended)
      return "process " + std::to_string(rank) + " never returned";
    if (!outcome.had_to_go || has_anybody_died || cuts_made > 1) continue;
    if (host_that_goes >= 0 && host_that_goes != outcome.host)
      return "both sides of one cut have to go";
    host_that_goes = outcome.host;
  }
  return std::nullopt;
}

}  // namespace resprout::sim

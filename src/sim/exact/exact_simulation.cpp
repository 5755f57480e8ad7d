// A simulation without a digest: runs are computed where they can be, and simulated where not.
#include <memory>
#include <utility>
#include <variant>

#include "sim/exact/exact_broadcast.hpp"
#include "sim/logp/simulations.hpp"

namespace resprout::sim {
namespace {

class ExactSimulation final : public Simulation {
 public:
  ExactSimulation(const Machinery& machinery, std::unique_ptr<ExactBroadcast> exact)
      : machinery_(machinery), exact_(std::move(exact)) {
    machinery_.wants_digest = true;  // what the engine is made from
  }

 private:
  Result do_run(std::span<const Death> deaths, std::uint64_t seed) override {
    return ExactBroadcast::supports(deaths) ? exact_->run(deaths) : engine().run(deaths, seed);
  }

  // Made when a run needs it: it is as large as all processes together.
  Simulation& engine() {
    if (!engine_) engine_ = std::get<std::unique_ptr<Simulation>>(Simulation::make(machinery_));
    return *engine_;
  }

  Machinery machinery_;
  std::unique_ptr<ExactBroadcast> exact_;
  std::unique_ptr<Simulation> engine_;
};

}  // namespace

Made make_exact(const Machinery& machinery) {
  auto exact = ExactBroadcast::make(machinery);
  if (!exact) return nullptr;
  return std::make_unique<ExactSimulation>(machinery, std::move(exact));
}

}  // namespace resprout::sim

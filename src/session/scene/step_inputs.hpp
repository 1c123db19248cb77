#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "session/options/options.hpp"
#include "session/options/scene_settings.hpp"
#include "session/products/scene_input.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// What the result of each step depends on, as it stands in the step's record: options by their names with
/// the texts that give them, see OptionResult, and photos, cameras, poses and the results of other steps. The
/// device is not among it: a run that was begun on one may be finished on another.
class StepInputs {
 public:
  /// The arguments outlive this, but for the options.
  StepInputs(RecordedOptions options, const SceneSettings& settings, const SceneInput& input,
             const SceneProducts& products)
      : options_(std::move(options)), settings_(settings), input_(input), products_(products) {}

  nlohmann::json prepare(int view, const std::string& photo_hash) const;
  nlohmann::json estimate(int view) const;
  /// @param views  that have depth maps
  nlohmann::json planes(const std::vector<int>& views) const;
  /// @param sources  the sources that have depth maps
  nlohmann::json check(int view, const std::vector<int>& sources) const;
  /// @param views  the checked views, in the order of fusion
  nlohmann::json fusion(const std::vector<int>& views) const;
  /// Of the tiles of the run's cloud.
  nlohmann::json tiles() const;
  /// Of the model with points of the run's cloud, and of the priors of the checked views.
  nlohmann::json exported() const;

 private:
  nlohmann::json given(int view) const;
  nlohmann::json with_options(std::initializer_list<OptionResult> results) const;
  void add_levels(nlohmann::json& inputs) const;
  void add_face(int view, nlohmann::json& inputs) const;
  void add_mask(int view, nlohmann::json& inputs) const;
  nlohmann::json image(int view) const;
  nlohmann::json maps(int view) const;

  const RecordedOptions options_;
  const SceneSettings& settings_;
  const SceneInput& input_;
  const SceneProducts& products_;
  const ScenePlan& plan_ = products_.plan;
};

}  // namespace recon

#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/products/stores.hpp"
#include "session/resume/output_folder.hpp"
#include "session/resume/result_store.hpp"

namespace recon {

/// The products of the steps of a scene: records and files in its output folder, images and maps in memory as
/// far as budgets allow.
struct SceneProducts {
  /// @param scene_plan  whose views the products are of; it outlives this
  /// @param images      the folder of the photos
  /// @param overwrite   nothing of earlier runs is kept
  SceneProducts(const ScenePlan& scene_plan, Workspace output, std::filesystem::path images,
                const MatchingSettings& matching, bool overwrite);

  /// Of the result of a view; of a step that has one for all of them, of that.
  ResultKey key(Step step, int view) const {
    return {step, is_of_views(step) ? plan.view(view).output_name : std::string()};
  }

  /// The result of a step of a view; null where it has none.
  const StepRecord* result(Step step, int view) const { return results.get(key(step, view)); }

  /// The share of the pixels of a view that have a depth after a step; 0 where it has no result.
  double known_share(Step step, int view) const;

  /// The views in scope that have a result.
  std::vector<int> views_with(Step step) const;

  const ScenePlan& plan;
  const Workspace workspace;
  PhotoStore photos;
  ResultStore results;
  MapStore maps;
  std::map<std::string, std::string> photo_hashes;  ///< of the photos that could be read, by view name
};

/// Says how much of a step is kept.
/// @param views  all of the step
void log_kept(const SceneProducts& products, Step step, const std::vector<int>& views,
              bool afterwards = false);

/// A cause for which results of a step are made again, and the views of which they are.
struct StaleViews {
  std::string cause;
  std::vector<int> views;
};

/// The causes of some views of a step, most views first; a view may have several.
std::vector<StaleViews> stale_views(const SceneProducts& products, Step step, const std::vector<int>& views);

/// Says of a step before stale results are made again that this is so, and why: a line for each cause.
class StaleNotice {
 public:
  StaleNotice(const SceneProducts& products, Step step) : products_(products), step_(step) {}

  /// Call it of a view that is done again, before that; others have no effect. Thread-safe.
  void add(int view);

  /// Those of all of these at once, whose numbers are known then.
  void add_all(const std::vector<int>& views);

 private:
  const SceneProducts& products_;
  const Step step_;
  std::mutex mutex_;
  std::set<std::string> said_;  ///< kinds of causes
};

}  // namespace recon

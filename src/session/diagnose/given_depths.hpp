#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "scene/depth_check.hpp"
#include "scene/map_agreement.hpp"
#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_input.hpp"

namespace recon {

/// Depth maps of others, of some views of a plan.
struct GivenDepths {
  const ScenePlan& plan;
  std::vector<int> views;  ///< that are judged
  std::function<bool(int view)> has;
  /// The map of a view that has one, in the shape of its image and any resolution. @throws InputError where
  /// it cannot be read
  std::function<Image<float>(int view)> read;
  /// The sparse points, in the world, that each of some views sees; none: not known.
  std::function<std::vector<std::vector<Vec3d>>(const std::vector<int>& views)> points;
  std::string points_name;  ///< for people
  std::function<std::string(double scale)>
      advice;  ///< what to do with depths that are so many times too deep
};

/// What seems wrong with given maps.
struct MapDoubts {
  std::vector<std::string> texts;  ///< with the likely cause, for people
  std::string of_all;              ///< what is wrong with all or most maps, in few words; empty: nothing
  bool useless = false;            ///< next to nothing agrees, and no scale, shift or distance explains it
};

/// Compares the depths of each view with the sparse points that it sees, and with those of two sources:
/// whether they are z along the viewing axis in scene units, and of its image. A map that cannot be read is
/// passed over. Each map is read once. Deterministic.
/// @throws Interrupted
MapDoubts doubts_of(const GivenDepths& depths);

/// What is known of given maps.
struct MapEvidence {
  std::vector<int> views;
  std::vector<std::string> names;
  std::vector<std::vector<DepthSample>> samples;  ///< at sparse points
  std::vector<ComparedView> maps;                 ///< small; without a depth where a map cannot be read
  std::vector<std::pair<int, int>> pairs;         ///< by places in `views`
};

/// Judges each view by its sparse points where they are enough, else by its pairs.
/// @param points_name, advice  see GivenDepths
MapDoubts judge(const MapEvidence& maps, const std::string& points_name,
                const std::function<std::string(double scale)>& advice);

/// Warns where the given depths of some active views do not fit the sparse points or each other, see
/// doubts_of, and where maps have fewer pixels than the images.
/// @throws InputError where next to nothing of the maps agrees
/// @throws Interrupted
void check_given_maps(const SceneInput& input, const ScenePlan& plan, const SceneSettings& settings,
                      Findings& findings);

/// Looks at the headers of the given maps for a plan: views whose maps are seen there to be of no use are
/// failures, and warnings say so, and where maps have fewer pixels than the images. No pixels are read.
/// @param output  the folder of the results
/// @throws InputError where none is of use
void check_given_headers(const SceneInput& input, const ScenePlan& plan, const SceneSettings& settings,
                         const std::string& output, Findings& findings);

/// The same of priors: warns of those that are seen to be of no use.
void check_prior_headers(const SceneInput& input, const ScenePlan& plan, Findings& findings);

/// That no given map is of use, by the first view that failed.
std::string no_usable_maps(const std::string& output, const Findings& findings);

}  // namespace recon

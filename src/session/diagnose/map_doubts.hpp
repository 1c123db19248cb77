#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "scene/depth_check.hpp"
#include "scene/map_agreement.hpp"
#include "session/diagnose/given_depths.hpp"

namespace recon {

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

}  // namespace recon

#include "session/scene/view_check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/confidence_step.hpp"
#include "core/parallel.hpp"
#include "fuse/holes.hpp"
#include "fuse/islands.hpp"
#include "fuse/planes/fill_planes.hpp"
#include "fuse/planes/fill_prior.hpp"
#include "fuse/reliability.hpp"
#include "io/map/map_files.hpp"
#include "session/products/stores.hpp"

namespace recon {

namespace {

/// Takes the normals of `maps` where depths are known but too few around them for a normal.
void keep_normals(const ViewDepth& maps, ViewDepth& checked) {
  parallel_for(checked.depth.height(), [&](int y) {
    for (int x = 0; x < checked.depth.width(); ++x)
      if (std::isnan(checked.normal(x, y).x) && !std::isnan(checked.depth(x, y)))
        checked.normal(x, y) = maps.normal(x, y);
  });
}

/// The probability that a depth is right by what the sources say of it.
/// @param confidence  before the check
float stated_reliability(const Agreement& said, float confidence, float variation) {
  if (confidence >= kPriorConfidence)
    return said.known == 0 ? kLonePriorReliability
                           : std::min(reliability(said, variation), kPriorReliability);
  const bool filled = confidence >= kFilledConfidence;
  if (said.known == 0) return filled ? kFilledReliability : lone_reliability(1.0f - confidence, variation);
  return filled ? std::min(reliability(said, variation), kFilledReliability) : reliability(said, variation);
}

/// `maps` where enough sources agree and the depth is reliable enough: the mean with those that agree
/// closely, within the bounds, and normals that follow from it.
ViewDepth kept_depths(const ViewCheck& check, const ViewDepth& maps, const Image<Agreement>& agreement,
                      const ConsistencyOptions& consistency, const CheckSettings& settings) {
  const int width = maps.depth.width(), height = maps.depth.height();
  const Image<float> variation =
      settings.patches ? inverse_depth_variation(maps.depth.view()) : Image<float>();
  const auto [nearest, farthest] = outermost_depths(settings.bounds);
  const auto max_relative_depth = static_cast<double>(consistency.max_relative_depth);
  ViewDepth result = uninitialised_view(width, height);
  parallel_for(height, [&](int y) {
    for (int x = 0; x < width; ++x) {
      float confidence = maps.confidence(x, y);
      bool keep = agreement(x, y).agree >= consistency.min_views;
      if (settings.patches && !std::isnan(maps.depth(x, y))) {
        const Agreement& said = agreement(x, y);
        confidence = rounded_confidence(stated_reliability(said, confidence, variation(x, y)));
        keep = keeps_depth(agreement(x, y), confidence, consistency, settings.min_reliability);
      }
      const float mean = mean_depth(maps.depth(x, y), agreement(x, y), max_relative_depth);
      result.depth(x, y) = keep ? std::min(std::max(mean, nearest), farthest) : kUnknown;
      result.confidence(x, y) = keep ? confidence : kUnknown;
    }
  });
  result.normal = {};
  result.normal = check.normals(std::as_const(result.depth).view());
  keep_normals(maps, result);
  return result;
}

}  // namespace

void take_said_of_priors(ImageView<const float> confidence, const Image<Agreement>& with_priors,
                         Image<Agreement>& said) {
  parallel_for(said.height(), [&](int y) {
    for (int x = 0; x < said.width(); ++x)
      if (confidence(x, y) >= kPriorConfidence) said(x, y) = with_priors(x, y);
  });
}

ViewDepth check_view(const ViewCheck& check, const ViewDepth& maps, const CheckSettings& settings) {
  const int sources = static_cast<int>(check.sources.size());
  // A scene of few views cannot ask for more than it has.
  ConsistencyOptions consistency = settings.consistency;
  if (sources == 0) consistency.min_lone_confidence = 1;  // nothing is checked then
  consistency.min_views = std::min(consistency.min_views, std::max(1, sources));
  const Image<Agreement> said = check.count_agreement();
  ViewDepth result = kept_depths(check, maps, said, consistency, settings);
  const CheckedMaps checked{result.depth.view(), result.normal.view(), result.confidence.view(), check.mask};
  fill_holes(checked, check.reference, check.sources,
             {settings.hole_reach, settings.min_reliability, consistency});
  keep_within(settings.bounds, result);  // interpolated depths are rounded
  if (settings.patches) remove_islands(checked, said.view(), check.reference.camera, settings.min_island);
  round_confidences(result.confidence.view());
  return result;
}

}  // namespace recon

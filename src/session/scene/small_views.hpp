#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/image.hpp"
#include "scene/corner_matches.hpp"
#include "scene/epipolar_check.hpp"
#include "session/scene/scene_run.hpp"

namespace recon {

/// Indices of two views each.
using ViewPairs = std::vector<std::pair<int, int>>;

/// The cameras of small images of all views, and their poses.
std::vector<CalibratedView> small_cameras(const SceneRun& run);

/// Small images of views and their corners, made from the photos when they are first wanted. A photo that
/// cannot be read has no corners.
class SmallViews {
 public:
  /// @param masked  no corners on what the masks that prepare_views wrote ignore
  SmallViews(SceneRun& run, bool masked) : run_(run), masked_(masked) {}

  /// Matches the corners of pairs of views. @param views  cameras and poses of all views
  /// @throws Interrupted
  std::vector<ViewMatch> matches(const ViewPairs& pairs, const std::vector<CalibratedView>& views);

 private:
  struct Images {
    Image<std::uint8_t> pixels, mask;
    std::vector<Vec2d> corners;
  };

  /// Makes the images of all views of `pairs`.
  void add(const ViewPairs& pairs);
  Images read(int view) const;
  SmallView small(int view, const std::vector<CalibratedView>& views) const;

  SceneRun& run_;
  const bool masked_;
  std::map<int, Images> images_;
};

}  // namespace recon

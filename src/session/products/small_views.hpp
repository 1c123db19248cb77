#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "core/image.hpp"
#include "scene/corner_matches.hpp"
#include "scene/epipolar_check.hpp"
#include "session/products/host_memory.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// Indices of two views each.
using ViewPairs = std::vector<std::pair<int, int>>;

/// The cameras of small images of all views, and their poses.
std::vector<CalibratedView> small_cameras(const ScenePlan& plan);

/// The views of a scene before and after their preparation.
enum class SmallViewsOf {
  kUnprepared,  ///< a photo that cannot be read has no corners, as preparing it will say why
  kPrepared,    ///< whose undistorted images and masks are written
};

/// Small images of views and their corners, of which none are on pixels that masks ignore, made from the
/// photos when they are first wanted.
class SmallViews {
 public:
  SmallViews(SceneProducts& products, const HostLimits& host, SmallViewsOf views)
      : products_(products), host_(host), views_(views) {}

  /// Matches the corners of pairs of views. @param views  cameras and poses of all views
  /// @throws InputError for a prepared view that cannot be read, Interrupted
  std::vector<ViewMatch> matches(const ViewPairs& pairs, const std::vector<CalibratedView>& views);

  /// The number of corners of a view that has been matched; else 0.
  std::size_t corner_count(int view) const {
    const auto it = images_.find(view);
    return it == images_.end() ? 0 : it->second.corners.size();
  }

 private:
  struct Images {
    Image<std::uint8_t> pixels, mask;
    std::vector<Vec2d> corners;
  };

  /// Makes the images of all views of `pairs`.
  void add(const ViewPairs& pairs);
  void add_unprepared(const std::vector<int>& views_of_photo);
  Images read_prepared(int view) const;
  Images small_images(int view, ImageView<const std::uint8_t> grey, Image<std::uint8_t> mask) const;
  SmallView small(int view, const std::vector<CalibratedView>& views) const;

  SceneProducts& products_;
  const ScenePlan& plan_ = products_.plan;
  const HostLimits host_;
  const SmallViewsOf views_;
  std::map<int, Images> images_;
};

}  // namespace recon

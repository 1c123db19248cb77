#pragma once

#include <memory>
#include <vector>

#include "fuse/holes.hpp"
#include "fuse/planes/scene_planes.hpp"
#include "scene/depth_range.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// How many times smaller the images are in which areas get planes: none of their sides has more than 640
/// pixels, which keeps joints and frames apart, and larger images gain nothing.
int plane_image_factor(const Pinhole& camera);

/// Fills maps of a view of `camera` by a prior, see fill_prior.
/// @param prior  depths in an image that is smaller by plane_image_factor
void fill_by_prior(ImageView<const float> prior, const Pinhole& camera, const DepthRange& bounds,
                   const CheckedMaps& maps);

/// The maps of views before the check, with the areas that planes of the scene fill, and what priors fill.
class FilledMaps {
 public:
  /// Those of the planes that are found by now.
  /// @param products  outlive this
  FilledMaps(SceneProducts& products, const DepthRange& bounds);

  /// What fills maps.
  enum class By { kNothing, kPlanes, kPrior };

  /// What fills most of the maps of a view; kNothing: its maps are those of its files.
  By filled_by(int view) const;

  /// @param by  what may fill them: planes, or a prior after these
  /// @throws InputError
  std::shared_ptr<const ViewDepth> get(int view, By by) const;

  /// Frees the maps of a view.
  void release(int view) const;

 private:
  std::shared_ptr<const ViewDepth> filled(int view, By by) const;

  SceneProducts& products_;
  const DepthRange bounds_;
  std::vector<WorldPlane> planes_;
  std::vector<bool> by_planes_, by_prior_;  ///< by view
};

}  // namespace recon

#pragma once

#include <vector>

#include "io/image/image_file.hpp"
#include "scene/scene.hpp"
#include "session/options/inputs.hpp"
#include "session/products/given_maps.hpp"
#include "session/products/prior_maps.hpp"

namespace recon {

/// What a run reads of a scene.
struct SceneInput {
  SceneFolder folder;
  Scene scene;                            ///< as it was read, without what masks ignore
  std::vector<SparsePoint> photo_points;  ///< see points_of_photos; their tracks are of `scene`
  GivenMaps given;                        ///< by --depth-maps
  PriorMaps prior;                        ///< by --prior-maps
  SampleLevels levels;                    ///< what is black and white in 16-bit photos
};

}  // namespace recon

#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "session/options/options.hpp"

namespace recon {

// What the options mean for a scene, divided by the steps that they are for: a step takes its own.

/// The sizes of the images that photos become.
struct ImageSizes {
  int longest_side = 0;  ///< pixels; 0: by the next two
  int most = 0;          ///< larger images are reduced to this; 0: none
  bool halved = false;   ///< and to half of that

  /// The longest side that the images of a photo may have; 0: that of the photo.
  int max_side(int width, int height) const;
};

/// Which views are worked on, with which sources.
struct PlanSettings {
  ViewSelectionOptions selection;
  ImageSizes images;
  std::string views = "*";   ///< reference views: a shell pattern over their names
  bool views_given = false;  ///< by the user
  Shard shard;
  bool given_maps = false;  ///< of --depth-maps
  bool estimates = true;    ///< depth maps are made
  bool checks = true;       ///< the depth maps are checked across views
};

/// How depth maps are made of photos.
struct MatchingSettings {
  Method method = Method::kPlaneSweep;
  MethodSpec spec;
  bool colour = false;              ///< in three channels instead of grey
  std::optional<int> planes;        ///< of a sweep; nothing: by their spacing in the images
  PhotometricFilterOptions filter;  ///< of a sweep with the limits that are meant where none is given
  DepthRange bounds;

  bool sweeps() const { return method == Method::kPlaneSweep; }
  /// Whether slanted patches are refined.
  bool patches() const { return has_patches(spec); }
  /// How often images are halved for patches, at most.
  int levels() const { return patches() ? spec.patch_match.levels : 0; }
};

/// What the check across views keeps.
struct CheckSettings {
  ConsistencyOptions consistency;
  DepthRange bounds;
  bool patches = false;       ///< depths of patches have a reliability by which they are judged
  float min_reliability = 0;  ///< of patches
  int hole_reach = 0;         ///< pixels, see HoleOptions::reach
  int min_island = 0;         ///< pixels, of patches
  int max_planes = 0;         ///< of the scene, that fill areas; 0: none
  bool prior = false;         ///< --prior-maps fill what is left
  bool clean = false;         ///< removes what only resuming needs from a finished scene

  /// Whether what photos do not show is filled.
  bool fills_areas() const { return max_planes > 0 || prior; }
};

struct SceneSettings {
  explicit SceneSettings(const SessionOptions& options);

  GivenMapsOptions given;
  PriorOptions prior;
  PlanSettings plan;
  MatchingSettings matching;
  CheckSettings check;
  CloudSettings cloud;
  ConsistencyOptions agreement;  ///< of the views of a point

  /// Of as many views.
  FusionOptions fusion(std::size_t views) const;
};

}  // namespace recon

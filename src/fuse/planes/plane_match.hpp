#pragma once

#include <vector>

#include "fuse/planes/area_planes.hpp"
#include "fuse/planes/plane_view.hpp"

namespace recon {

/// How well the photos of sources match that of a reference view on planes of the scene: ZNCC of windows of 9
/// x 9 pixels, of which every second in a row and a column counts, the mean of the two best sources.
class PlaneMatch {
 public:
  /// The arguments outlive this.
  PlaneMatch(const PlaneView& reference, const std::vector<PlaneView>& sources);

  /// The plane whose matches are asked for.
  void set_plane(const SeenPlane& plane);

  /// Whether the window at a pixel has texture and lies inside the image.
  bool has_texture(int x, int y) const;

  /// -1 .. 1; NaN where fewer than two sources see the window.
  /// @param enough  no more sources are asked once it exceeds this; it would only be larger
  float zncc(int x, int y, float enough = 2) const;

 private:
  const PlaneView& reference_;
  const std::vector<PlaneView>& sources_;
  std::vector<Pose> source_from_reference_;
  std::vector<PlaneHomography> homographies_;
};

}  // namespace recon

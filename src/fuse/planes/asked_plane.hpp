#pragma once

#include <cstdint>
#include <vector>

#include "fuse/planes/area_pixels.hpp"
#include "fuse/planes/area_planes.hpp"
#include "fuse/planes/plane_view.hpp"

namespace recon {

/// Max relative distance of a depth that lies on a plane, and by how much a view is farther that sees through
/// it.
inline constexpr double kOnPlane = 0.01, kThroughPlane = 0.02;

/// How many views say of a pixel that it lies on a plane.
struct PlaneAnswers {
  int on = 0;       ///< they have a depth there that lies on it, and look the same
  int other = 0;    ///< they have one, but look otherwise: what they see there is something else
  int through = 0;  ///< they see farther
  int sky = 0;      ///< they see sky there

  /// No view sees sky there, and fewer than two see something else, or no more than those that confirm it.
  bool allow() const { return sky == 0 && (through + other < 2 || through + other <= on); }
};

/// A plane as a reference view and others see it.
class AskedPlane {
 public:
  /// @param label  see label_areas
  /// @param reference, others  outlive this
  AskedPlane(const WorldPlane& plane, std::uint8_t label, const PlaneView& reference,
             const std::vector<PlaneView>& others);

  std::uint8_t label() const { return label_; }
  /// As the reference sees it.
  const SeenPlane& seen() const { return seen_; }

  /// Whether a pixel of the reference shows a place of the plane within its extent.
  bool contains(AreaPixel pixel) const;

  /// Adds what the others say of a pixel of the reference.
  void ask(AreaPixel pixel, PlaneAnswers& answers) const;

 private:
  /// Another view.
  struct Other {
    const PlaneView* view;
    SeenPlane seen;
    PlaneHomography from_reference;
  };

  std::uint8_t label_;
  const PlaneView* reference_;
  SeenPlane seen_;
  PlaneExtent extent_;
  Pose world_from_reference_;
  std::vector<Other> others_;
};

}  // namespace recon

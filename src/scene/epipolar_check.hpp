#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "scene/corner_matches.hpp"
#include "scene/scene.hpp"

namespace recon {

/// The camera and the pose of a view; its matches are in the pixels of this camera.
struct CalibratedView {
  Pinhole camera;
  Pose cam_from_world;
  int photo = -1;  ///< the first view of the photo that this one is a face of; -1: it is a photo
};

/// A point that two of some views have in common.
struct ViewMatch {
  int reference = 0, source = 0;  ///< indices of the views
  CornerMatch at;
};

/// Units of distances on the longer side of a view.
inline constexpr double kEpipolarUnits = 320;

/// How near matches lie to their epipolar lines.
struct EpipolarFit {
  std::size_t matches = 0;
  double share = 0;   ///< of these up to a unit away: by chance less than 0.2, see kEpipolarBand
  double median = 0;  ///< distance, units
};

/// The fit of matches, by their Sampson distances (Sampson 1982).
EpipolarFit fit_matches(std::span<const CalibratedView> views, std::span<const ViewMatch> matches);

/// What cameras may have wrong.
enum class CameraError {
  kFocal,      ///< the focal length
  kCentre,     ///< the principal point
  kDistortion  ///< the first coefficient of the radial distortion
};

/// The change of all cameras with which matches fit better.
struct CameraCorrection {
  CameraError error = CameraError::kFocal;
  double focal = 1;       ///< factor
  Vec2d centre{0, 0};     ///< to be added, shares of the width
  double distortion = 0;  ///< to be added to the coefficient of r^2
  EpipolarFit fit;        ///< with it
};

/// A view whose pose or photo is wrong, or its camera; of a photo with faces the first, for all of them.
struct DoubtedView {
  int view = 0;
  EpipolarFit fit;                ///< of its matches, or those of all faces
  std::optional<double> degrees;  ///< it has to be turned by this; empty: no turn explains it
};

/// What matches say of cameras and poses.
struct EpipolarVerdict {
  std::vector<DoubtedView> views;          ///< that do not fit to others that do, worst first
  EpipolarFit fit;                         ///< without these views
  std::optional<CameraCorrection> camera;  ///< without these views
};

/// Judges cameras and poses by matches: repeatedly takes, of single views and of changes of all cameras, what
/// explains most of the distances from epipolar lines, if it does so beyond doubt. Faces of a photo, which
/// share its camera and its pose, are judged together. What epipolar lines do not depend on is not noticed,
/// such as focal lengths where all cameras look in one direction. Deterministic.
EpipolarVerdict judge_matches(std::span<const CalibratedView> views, std::vector<ViewMatch> matches);

/// Points of the surfaces that views show, triangulated from corners that they share. A corner of a reference
/// becomes a point where the matches with at least `min_sources` views agree, which means that its image lies
/// within 1.5 pixels of their corners, and one of these views sees it at an angle of at least `min_angle`
/// degrees. Few wrong ones remain: the points are good enough to choose sources by, and to guess depths.
/// Time linear in the matches, but quadratic in those of one corner. Deterministic.
/// @param views    cameras of small images, and poses, of all views
/// @param matches  in any order
/// @return sorted by reference and by corner; tracks have the reference first, and no observations
/// Source: the two rays' nearest points: R. Hartley, P. Sturm, Triangulation, CVIU 1997, section 3
/// (mid-point)
std::vector<SparsePoint> triangulate_corners(const std::vector<CalibratedView>& views,
                                             std::vector<ViewMatch> matches, int min_sources,
                                             double min_angle);

}  // namespace recon

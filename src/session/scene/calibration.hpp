#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scene/calibration_check.hpp"
#include "scene/scene.hpp"

namespace recon {

struct SceneRun;

/// Warns of cameras and poses that the sparse points and the sizes of the photos contradict, before any work.
/// @param left_out  views that do not count
/// @throws InputError when no depth can come from the model
void check_calibration(SceneRun& run, const std::vector<LeftOut>& left_out);

/// For people: the mistake if it is known, else the usual ones.
std::string causes(const SceneRun& run, std::optional<CalibrationMistake> mistake);

/// Matches corners of undistorted photos, and warns when they do not lie on their epipolar lines, of the
/// whole scene, of its cameras, or of single views: as soon as photos are there. Sets `photos_fit`.
/// @throws InputError when a photo or mask cannot be read, Interrupted
void check_photos_fit(SceneRun& run);

/// What the corners of one photo say of its camera and its pose.
enum class PhotoVerdict {
  kNothing,      ///< they fit, or are few
  kContradicts,  ///< they lie beside their epipolar lines
  kApart,        ///< of a photo with faces, which sees all around: next to none is found in other photos
};

/// As check_photos_fit for the photo of one view, with more of the others.
PhotoVerdict judge_photo(SceneRun& run, int view);

/// What the check across views leaves of some views' depths.
struct ViewAgreement {
  double estimated = 0;  ///< mean share of the pixels with a depth before it
  double checked = 0;    ///< the same after it

  /// Checked divided by estimated pixels.
  double share() const { return estimated > 0 ? checked / estimated : 0; }
};

/// The agreement of finished views.
ViewAgreement agreement_of(const SceneRun& run, const std::vector<int>& views);

/// Whether so few depths agree that chance explains it.
bool by_chance(const SceneRun& run, const ViewAgreement& agreement);

/// Why views agree by chance only, for people.
std::string disagreement(const SceneRun& run);

/// Whether a cloud of `points` is there by chance: its views agree by chance only, and the photos contradict
/// cameras and poses, or hardly a pixel in a hundred became a point.
bool is_cloud_by_chance(const SceneRun& run, const std::vector<int>& views, std::uint64_t points);

/// Warns when the views agree by chance only, or single views do where the others agree.
void check_agreement(SceneRun& run);

}  // namespace recon

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scene/calibration_check.hpp"
#include "scene/scene.hpp"
#include "scene/view_selection.hpp"
#include "session/products/findings.hpp"
#include "session/products/host_memory.hpp"
#include "session/products/scene_input.hpp"
#include "session/products/scene_products.hpp"

namespace recon {

/// The photos of a prepared scene, which are compared with its cameras and poses.
struct PreparedPhotos {
  const SceneInput& input;
  SceneProducts& products;
  const ViewSelectionOptions& selection;
  HostLimits host;
};

/// Warns of cameras and poses that the sparse points and the sizes of the photos contradict, before any work.
/// @param left_out  views that do not count
/// @throws InputError when no depth can come from the model
void check_calibration(const SceneInput& input, const std::vector<LeftOut>& left_out, Findings& findings);

/// For people: the mistake if it is known, else the usual ones; briefly where a warning has named it, or any.
std::string causes(const SceneInput& input, std::optional<CalibrationMistake> mistake, Findings& findings);

/// Matches corners of undistorted photos, and warns when they do not lie on their epipolar lines, of the
/// whole scene or of its cameras: as soon as photos are there. Sets `photos_fit`, and `photo_doubts` of
/// single photos, which check_agreement confirms or drops; a run without the check across views warns of
/// them.
/// @param checked_later  by check_agreement
/// @throws InputError when a photo or mask cannot be read, Interrupted
void check_photos_fit(const PreparedPhotos& photos, bool checked_later, Findings& findings);

/// What the corners of one photo say of its camera and its pose.
enum class PhotoVerdict {
  kNothing,      ///< they fit, or are few
  kContradicts,  ///< they lie beside their epipolar lines
  kApart,        ///< next to none is found in other photos
};

/// As check_photos_fit for the photo of one view, with more of the others.
PhotoVerdict judge_photo(const PreparedPhotos& photos, int view);

/// Warns of photos that contradict their cameras or poses.
/// @param scene     for messages
/// @param evidence  by the name of each photo
void warn_of_photos(const std::string& scene, const std::map<std::string, std::string>& evidence,
                    Findings& findings);

/// What a photo is that shows nothing, such as "black"; empty where it shows something, or masks leave
/// nothing of it.
/// @param views  of the photo
/// @throws InputError when it or its mask cannot be read
std::string what_is_empty(SceneProducts& products, const std::vector<int>& views);

/// Warns of views without depths whose photos are black, white, of one colour or without any detail.
/// @throws InputError when a photo or mask cannot be read
void name_empty_photos(SceneProducts& products, const std::string& scene, Findings& findings);

/// What the check across views leaves of some views' depths.
struct ViewAgreement {
  double estimated = 0;  ///< mean share of the pixels with a depth before it
  double checked = 0;    ///< the same after it

  /// Checked divided by estimated pixels.
  double share() const { return estimated > 0 ? checked / estimated : 0; }
};

/// The agreement of finished views.
ViewAgreement agreement_of(const SceneProducts& products, const std::vector<int>& views);

/// Whether so few depths agree that chance explains it.
bool by_chance(const Findings& findings, const ViewAgreement& agreement);

/// Why views agree by chance only, for people.
std::string disagreement(const SceneInput& input, Findings& findings);

/// Whether a cloud of `points` is there by chance: its views agree by chance only, and the photos contradict
/// cameras and poses, or hardly a pixel in a hundred became a point.
/// @param spacing  see FusionOptions
bool is_cloud_by_chance(const SceneProducts& products, const Findings& findings,
                        const std::vector<int>& views, std::uint64_t points, int spacing);

/// Warns when the views agree by chance only, or single views do where the others agree. A doubt of a photo
/// is dropped where other views confirm half as much of its depths as of all.
void check_agreement(const PreparedPhotos& photos, Findings& findings);

}  // namespace recon

#pragma once

#include <map>
#include <string>
#include <vector>

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

}  // namespace recon

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"
#include "session/products/map_folder.hpp"

namespace recon {

/// A prior of a view: its values, and how sure they are.
struct Prior {
  Image<float> values;      ///< NaN: unknown
  Image<float> confidence;  ///< [0, 1], NaN: of no value; or empty: 1
};

/// The photo or undistorted image that a prior is of.
struct PriorPhoto {
  Camera camera;
  const Mat3d* face_from_photo = nullptr;  ///< of a face of a wide photo, else null
};

/// A prior in the pixels of an image of `camera`, such as the undistorted image in another size: what follows
/// the inverse of z. Values below PriorFit::kMinConfidence are left out before they are interpolated.
/// @param given  values and confidences of the whole photo, each in any size
/// @param kind   of the values, not kAuto
Prior prior_in_image(Prior given, PriorKind kind, const PriorPhoto& photo, const Pinhole& camera);

/// The depths of --prior-maps, of networks or sensors, by views. Thread-safe once they are found.
class PriorMaps : public MapFolder {
 public:
  /// @throws InputError as MapFolder::find
  void find(const std::filesystem::path& folder, const std::vector<View>& views, std::size_t max_bytes);

  /// Why the prior of a view that has one is of no use, by the header of its file; empty: it may be used.
  std::string fault(const ScenePlan& plan, int view) const;

  /// The prior of a view that has one, in the pixels of an image of `camera` (its undistorted image in any
  /// size), see prior_in_image.
  /// @param kind  not kAuto
  /// @throws InputError with the file, also where a map is of an image of another shape
  Prior read(const ScenePlan& plan, int view, const Pinhole& camera, PriorKind kind) const;
};

/// The warning that the prior of a view is not used.
/// @param fault  the message about its file
std::string unused_prior_text(const std::string& view, const std::string& fault);

}  // namespace recon

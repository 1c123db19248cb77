#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"
#include "session/products/map_folder.hpp"

namespace recon {

/// The depths of --prior-maps, of networks or sensors, by views. Thread-safe once they are found.
class PriorMaps {
 public:
  /// @throws InputError as MapFolder::find
  void find(const std::filesystem::path& folder, const std::vector<View>& views, std::size_t max_bytes);

  /// Whether there are any.
  bool any() const { return folder_.any(); }
  bool has(const std::string& view) const { return folder_.has(view); }
  std::vector<std::filesystem::path> files() const { return folder_.files(); }
  std::size_t reading_bytes() const { return folder_.reading_bytes(); }
  nlohmann::json identity(const std::string& view) const { return folder_.identity(view); }

  /// What the header of the map of a view that has one shows to be wrong; empty: nothing.
  std::string fault(const ScenePlan& plan, int view) const;

  /// The prior of a view that has one, in the pixels of an image of `camera` (its undistorted image in any
  /// size): what follows the inverse of z; NaN where it has no value.
  /// @param kind  not kAuto
  /// @throws InputError with the file, also where a map is of an image of another shape
  Image<float> read(const ScenePlan& plan, int view, const Pinhole& camera, PriorKind kind) const;

 private:
  MapFolder folder_;
};

}  // namespace recon

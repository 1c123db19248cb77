#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/image/image_size.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "scene/scene.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"
#include "session/products/map_folder.hpp"

namespace recon {

/// The depth maps of --depth-maps, which other programs made, by views. Thread-safe once they are found.
class GivenMaps : public MapFolder {
 public:
  /// @throws InputError as MapFolder::find
  /// @throws UsageError when maps hold whole numbers and no unit is given
  void find(const std::filesystem::path& folder, const std::vector<View>& views, std::optional<double> unit,
            std::size_t max_bytes);

  /// What the headers of the maps of a view that has them show to be wrong; empty: nothing. Their pixels are
  /// not read.
  std::string fault(const ScenePlan& plan, int view) const;

  /// The size of the depth map of a view that has one without fault.
  ImageSize depth_size(const std::string& view) const;

  /// The maps of a view that has them in the size of its undistorted image, with normals that are empty.
  /// Without a confidence map all depths have the confidence 1.
  /// @throws InputError with the file, also where a map is of an image of another shape
  ViewDepth read(const ScenePlan& plan, int view) const;

  /// The depths of a view that has them, in the size of their file.
  /// @throws InputError as `read`
  Image<float> read_depth(const ScenePlan& plan, int view) const;

 private:
  std::optional<double> unit_;
};

}  // namespace recon

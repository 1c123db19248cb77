#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/image/image_size.hpp"
#include "methods/sweep/plane_sweep.hpp"
#include "scene/scene.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"

namespace recon {

/// The depth maps of --depth-maps, which other programs made, by views. Thread-safe once they are found.
class GivenMaps {
 public:
  /// Looks for the maps of views: below `folder`, or its stereo/depth_maps where it is a workspace of COLMAP,
  /// the files that the model names (depth_file_path), or else files with the name of the view and the ending
  /// of a map. Where no other view has it, the name without its first folders, or without the ending of a
  /// photo, will do. A map that takes more than `max_bytes` to read is a fault of its view.
  /// @throws InputError when the folder is none or no view has a map
  /// @throws UsageError when maps hold whole numbers and no unit is given
  void find(const std::filesystem::path& folder, const std::vector<View>& views, std::optional<double> unit,
            std::size_t max_bytes);

  /// Whether maps are given at all.
  bool any() const { return !files_.empty(); }
  bool has(const std::string& view) const { return files_.contains(view); }

  /// The files of all views.
  std::vector<std::filesystem::path> files() const;

  /// Bytes that reading the largest one takes of those that are read.
  std::size_t reading_bytes() const { return reading_bytes_; }

  /// What identifies the content of the maps of a view that has them. A file is read once; a run that finds
  /// another content later makes another result.
  nlohmann::json identity(const std::string& view) const;

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
  struct Files {
    std::filesystem::path depth, confidence;  ///< no path: no confidence is given
    std::string fault;                        ///< why they are not read; empty: they are
  };

  /// @throws InputError where they are not to be read
  const Files& readable_files(const std::string& view) const;

  std::filesystem::path folder_;
  std::optional<double> unit_;
  std::map<std::string, Files> files_;
  std::size_t reading_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<std::string, nlohmann::json> identities_;
};

}  // namespace recon

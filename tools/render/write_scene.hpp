#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "io/colmap_model.hpp"
#include "render/scene_description.hpp"

namespace recon {

enum class GroundTruth {
  kAll,  ///< depth as PNG and as COLMAP array, and normals
  kPng,  ///< depth as PNG only: small
  kNone,
};

struct WriteSceneOptions {
  std::string title;  ///< for scene.json
  ColmapFormat format = ColmapFormat::kText;
  GroundTruth ground_truth = GroundTruth::kAll;
  bool overwrite = false;             ///< replace a scene that was rendered into the folder before
  std::function<void()> view_done{};  ///< called after each view
};

/// Renders all views and writes a COLMAP scene with its ground truth; for a view "view00.png":
///
///     images/view00.png                             the photo
///     sparse/cameras.txt images.txt points3D.txt    exact calibration, points on the true surfaces
///     gt_depth/view00.png                           16-bit, round(depth * scale), 0 unknown; scale as
///     scene.json says gt_depth/view00.bin                           COLMAP array: z along the optical axis
///     at the pixel centre, 0 unknown gt_normal/view00.bin                          COLMAP array: unit
///     normals in camera coordinates, 0 unknown scene.json                                    what this is;
///     "complete" is false until all is written
///
/// Ground truth lies on the pixel grid of the photo, distorted as it is. The scale is 1000 (millimetres, if a
/// scene unit is a metre), or the next lower power of ten at which the largest depth fits. Memory: one view,
/// and the depth maps of all views. Determinism: a function of description and options alone.
/// @throws UsageError when `folder` holds something and is not to be overwritten, or holds something else
/// than a
///         rendered scene; OutputError; Interrupted between views; InputError when the description is not
///         valid
void write_rendered_scene(const SceneDescription& description, const std::filesystem::path& folder,
                          const WriteSceneOptions& options);

}  // namespace recon

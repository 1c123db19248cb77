#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace recon {

/// The commands of reconstruct-evaluate: each compares files and returns its figures as one JSON object, of
/// which `text` makes what people read. Shares are in [0, 1]; a figure that does not exist (a mean of
/// nothing) is null.

struct DepthCommand {
  std::filesystem::path dense;                 ///< a dense workspace: stereo/depth_maps/NAME.<kind>.bin
  std::filesystem::path ground_truth;          ///< see find_truth
  std::optional<std::filesystem::path> scene;  ///< of the ground truth; nothing: the folder above, if one
  std::string kind = "geometric";
  std::string views = "*";                                                ///< shell pattern over view names
  std::vector<double> thresholds{0.001, 0.002, 0.005, 0.01, 0.02, 0.05};  ///< relative errors
  std::optional<double> unit;  ///< scene units per step of a 16-bit PNG; nothing: see truth_unit
};

/// Depth maps against ground-truth depth, view by view and over all pixels of all views (see DepthScore).
/// Views are those of the scene, else of the workspace's model, else those that have a map; those without
/// ground truth are skipped, and one with ground truth but without a map counts as a map without any
/// estimate.
/// @throws UsageError, InputError
nlohmann::ordered_json evaluate_depth(const DepthCommand& command);

struct CloudCommand {
  std::filesystem::path cloud;
  std::optional<std::filesystem::path> scene;         ///< compare with its ground-truth depth ...
  std::optional<std::filesystem::path> ground_truth;  ///< ... of this folder; nothing: gt_depth/ of the scene
  std::optional<std::filesystem::path> reference;     ///< or with this cloud, see read_reference
  std::optional<std::filesystem::path> transform;     ///< moves the cloud to the reference first
  std::optional<std::filesystem::path> crop;          ///< only what is within this volume is compared
  std::vector<double> thresholds{0.033, 0.065};       ///< distances, scene units
  std::optional<double> voxel;                        ///< edge, scene units; nothing: half of each threshold
  std::optional<double> unit;                         ///< as above
  bool all_views = false;                             ///< do not use the visibility file
};

/// A cloud against ground truth: precision, recall and F1 per threshold (see CloudScore). With a scene, the
/// reference is the cloud of all ground-truth pixels, estimated points that project onto no known ground
/// truth are left out, and `within_1_percent` is the share of the remaining points whose depth agrees to 1 %
/// with the ground truth of at least one of the views that see the point: those of CLOUD.ply.vis, or all
/// views where there is no such file. Points whose own views know nothing are not counted in it.
/// @throws UsageError, InputError
nlohmann::ordered_json evaluate_cloud(const CloudCommand& command);

struct DisparityCommand {
  std::filesystem::path map;
  std::filesystem::path ground_truth;  ///< a map, or a folder whose info.json names and describes it
  std::string mask;  ///< an image, or with such a folder nonocc, all or disc; empty: no mask
  std::vector<double> thresholds{0.5, 1, 2, 4};  ///< pixels
  std::optional<double> scale;  ///< steps per pixel of an integer ground truth; nothing: info.json's, else
                                ///< 256 of a 16-bit PNG, else 1
  std::optional<double> map_scale;  ///< the same of the map, without info.json
  std::string unknown = "0";        ///< integer value that means unknown, in both; "none": all are known
};

/// A disparity map against ground truth (see DisparityScore).
/// @throws UsageError, InputError
nlohmann::ordered_json evaluate_disparity(const DisparityCommand& command);

/// What people read of a command's figures.
/// @param width  of the terminal, see text_table
std::string text(const nlohmann::ordered_json& figures, std::optional<std::size_t> width);

/// The file with the ground-truth depth of a view: NAME.bin or, without one, NAME.png in `folder`, where NAME
/// is the name of the view with or without its ending; nothing when there is none.
std::optional<std::filesystem::path> find_truth(const std::filesystem::path& folder,
                                                const std::string& view_name);

/// That a folder has no ground truth of any view, and which folder beneath it has.
std::string missing_truth(const std::filesystem::path& folder, const std::vector<std::string>& view_names);

/// Scene units per step of the PNG files in a folder of ground truth: what the user says, else what a
/// rendered scene says in the scene.json above the folder ("depth_png_levels_per_scene_unit"), else 0.001.
/// @throws UsageError when what the user says is not a positive number; InputError
double truth_unit(const std::filesystem::path& folder, std::optional<double> by_user);

/// Depth in scene units: a COLMAP array (.bin), or a 16-bit PNG in steps of `unit` with 0 for unknown.
/// Unknown is NaN.
/// @throws InputError
Image<float> read_truth(const std::filesystem::path& path, double unit);

/// @throws UsageError when there is no threshold or one is not a positive number
void check_thresholds(const std::vector<double>& thresholds);

/// @throws UsageError when the option's value is not a positive number
void check_positive(const char* option, double value);

}  // namespace recon

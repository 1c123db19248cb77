#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "io/cloud/ply.hpp"
#include "scene/pinhole.hpp"
#include "session/pair/pair_input.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

/// The files of a pair's results, in the output folder.
namespace pair_file {
inline constexpr const char* kDisparity = "disparity.pfm";
inline constexpr const char* kDisparityPng = "disparity.png";
inline constexpr const char* kPreview = "preview.png";
inline constexpr const char* kFilled = "filled.png";
inline constexpr const char* kDepth = "depth.pfm";
inline constexpr const char* kDepthPng = "depth.png";
inline constexpr const char* kPhoto = "photo.jpg";
inline constexpr const char* kCloud = "fused.ply";
inline constexpr const char* kVisibility = "fused.ply.vis";
inline constexpr const char* kReport = "report.json";
inline constexpr const char* kReportPage = "report.html";
}  // namespace pair_file

/// The files of the result of a pair and its record, as its options have them or others; all but the reports.
std::vector<std::string> pair_files();

/// What a run writes into the output folder.
struct PairOutput {
  std::vector<std::string> files;
  std::uint64_t bytes = 0;  ///< on the disk, at most
};
PairOutput pair_output(const PairPlan& plan);

/// Disparities in KITTI's encoding: round(256 d), at least 1; 0 where unknown, and where 16 bits do not hold
/// the value (d < 0, d >= 256).
Image<std::uint16_t> disparity_in_16_bits(ImageView<const float> disparity);

/// The depth map of a disparity map; unknown (NaN) where the disparity is, and where the rays do not meet in
/// front of the cameras.
Image<float> depth_of_disparity(ImageView<const float> disparity, const StereoCamera& camera);

/// Depths in 16 bits.
struct SteppedDepth {
  Image<std::uint16_t> steps;  ///< round(depth / step), at least 1; 0 where unknown or too large for 16 bits
  std::size_t too_large = 0;   ///< pixels
};
SteppedDepth depth_in_16_bits(ImageView<const float> depth, double step);

/// Number of points of a pair, and their files, which exist unless there are none.
struct PairCloud {
  std::uint64_t points = 0;
  CloudFiles files;
};

/// Writes the points of a depth map as the left camera sees them, with normals of the surface around them and
/// seen by views 0 and 1: fused.ply and its visibility file. Points without a normal are left out.
/// @param skip  255 where a pixel gives no point, else 0
PairCloud write_pair_cloud(const Workspace& workspace, ImageView<const float> depth,
                           ImageView<const Rgb8> colour, ImageView<const std::uint8_t> skip,
                           const Pinhole& camera);

}  // namespace recon

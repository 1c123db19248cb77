#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "core/vec.hpp"
#include "io/file/output_file.hpp"
#include "io/image/image_size.hpp"

namespace recon {

/// Bytes a pixel of the files of maps, at most.
inline constexpr std::size_t kDepthFileBytes = 4, kNormalFileBytes = 12, kConfidenceFileBytes = 1;

/// COLMAP's dense arrays: the text "width&height&channels&", then little-endian floats, channel planes in
/// order, row by row. Unknown is NaN in memory and 0 in the file.

/// Reads a depth map. Values that are not positive and finite are unknown.
/// @throws InputError with file and byte if the header is invalid or does not match the file size
Image<float> read_depth_map(const std::filesystem::path& path);
Image<float> parse_depth_map(std::string_view bytes, const std::string& file);

/// The size of a depth map by its header, at the beginning of the file.
/// @param file_bytes  of the whole file
/// @throws InputError as read_depth_map
ImageSize depth_map_size(std::string_view beginning, std::uint64_t file_bytes, const std::string& file);

/// Reads a normal map: unit vectors in the camera frame; (0, 0, 0) and non-finite values in the file are
/// unknown.
Image<Vec3f> read_normal_map(const std::filesystem::path& path);
Image<Vec3f> parse_normal_map(std::string_view bytes, const std::string& file);

/// A map in a file that is complete but for `commit`.
/// @throws OutputError
AtomicFile depth_map_file(const std::filesystem::path& path, ImageView<const float> depth);
AtomicFile normal_map_file(const std::filesystem::path& path, ImageView<const Vec3f> normals);

/// @throws OutputError
FileIdentity write_depth_map(const std::filesystem::path& path, ImageView<const float> depth);
FileIdentity write_normal_map(const std::filesystem::path& path, ImageView<const Vec3f> normals);

/// A confidence c in [0, 1] is the grey value round(255 c) of an 8-bit PNG; unknown is 0.

/// Gives each the nearest confidence that a file keeps, see rounded_confidence.
void round_confidences(ImageView<float> confidence);

/// Reads a confidence map; 0 where the confidence is 0 or unknown.
/// @throws InputError with the file if it is not an image
Image<float> read_confidence_map(const std::filesystem::path& path);

/// A confidence map in a file that is complete but for `commit`.
/// @throws OutputError, OutOfMemory
AtomicFile confidence_map_file(const std::filesystem::path& path, ImageView<const float> confidence);

/// Reads a PFM file of one channel ("Pf"), either byte order; the magnitude of the scale is ignored, as in
/// Middlebury's tools. +inf and NaN in the file are unknown: NaN.
/// @throws InputError with file and byte if the header is invalid or does not match the file size
Image<float> read_pfm(const std::filesystem::path& path);
Image<float> parse_pfm(std::string_view bytes, const std::string& file);

/// The size of a PFM file by its header, at the beginning of the file.
/// @param file_bytes  of the whole file
/// @throws InputError as read_pfm
ImageSize pfm_size(std::string_view beginning, std::uint64_t file_bytes, const std::string& file);

/// Writes a little-endian PFM; unknown (NaN) becomes +inf, as in Middlebury 2014.
/// @throws OutputError
FileIdentity write_pfm(const std::filesystem::path& path, ImageView<const float> image);

/// Of the known pixels, this share at either end has the colour of the end in previews of depth.
inline constexpr double kPreviewOutliers = 0.02;

/// The values that the lowest and the highest colour of a preview stand for.
struct PreviewEnds {
  float low = kUnknown, high = kUnknown;
};

/// Colour preview of a depth map: inverse depth between its 2 % and 98 % quantiles in the "turbo" colour map
/// without its darkest colours, near in red, far in blue; unknown pixels (NaN, not positive) are black.
/// Source of the colours: A. Mikhailov, "Turbo, an improved rainbow colormap", 2019, as in OpenCV.
Image<Rgb8> depth_preview(ImageView<const float> depth);

/// The 256 colours of the previews, the lowest first.
const std::vector<Rgb8>& preview_colours();

/// The same for a confidence: 0 in blue to 1 in red, unknown in black, at most 640 pixels wide and high.
Image<Rgb8> confidence_preview(ImageView<const float> confidence);

/// The same for values that increase with nearness, such as disparities (pixels, possibly negative).
/// @param ends  set to the values that have the colours of the ends, unless null; NaN where nothing is known
Image<Rgb8> disparity_preview(ImageView<const float> disparity, PreviewEnds* ends = nullptr);

}  // namespace recon

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "io/image/image_size.hpp"

namespace recon {

/// Maps of other programs, by the ending of the file: .bin as COLMAP's arrays, .pfm, .npy of NumPy, .png and
/// .exr, see parse_exr.

/// The endings of depth maps, in the order in which they are looked for.
std::vector<std::string> depth_map_endings();
/// The same of confidence maps, such as ".confidence.png".
std::vector<std::string> confidence_map_endings();
/// The same of confidence maps of priors, such as ".confidence.png" and "_confidence.png".
std::vector<std::string> prior_confidence_endings();
/// The same in a folder of confidence maps, such as ".png".
std::vector<std::string> map_endings();

/// Whether the values of a depth map are whole numbers, whose unit the file does not say. A damaged header
/// says no.
/// @throws InputError when it cannot be read
bool has_whole_numbers(const std::filesystem::path& path);

/// The size of a map of depths or confidences by the header of its file; the pixels are not read.
/// @throws InputError with file and reason where the header, or the number of the file's bytes, is not that
/// of a map
ImageSize given_map_size(const std::filesystem::path& path);

/// The same of a depth map. @throws InputError also for a PNG of 8 bits
ImageSize given_depth_size(const std::filesystem::path& path);

/// Bytes that reading a map takes at most: the content of its file and the map, or the numbers and what they
/// mean. What the header of a damaged file says does not count beyond its bytes.
/// @param kept  bytes a pixel of what stays in memory meanwhile
/// @throws InputError when it cannot be read
std::size_t reading_bytes(const std::filesystem::path& path, std::size_t kept = 0);

/// A depth map in scene units: what is not positive and finite is unknown.
/// @param unit  scene units of one unit of the map; a map of whole numbers needs it
/// @throws InputError with file and reason
Image<float> read_given_depth(const std::filesystem::path& path, std::optional<double> unit);

/// The values of a map as they are in its file: floats or whole numbers; NaN where they are 0 or not finite.
/// @throws InputError with file and reason
Image<float> read_given_values(const std::filesystem::path& path);

/// A confidence map in [0, 1], unknown as 0. Whole numbers are parts of the largest one of their type.
/// @throws InputError with file and reason, also for fractions above 1
Image<float> read_given_confidence(const std::filesystem::path& path);

/// The same of a prior: bytes of which none is above 2 are levels of ARKit, which are 0, 0.5 and 1.
/// @throws InputError as read_given_confidence
Image<float> read_prior_confidence(const std::filesystem::path& path);

/// Whether a map of one size can be of an image of another one: their shapes differ by rounding only, and the
/// sides of the map are at least a sixteenth of those of the image, as rounding hides the shape of tiny ones.
bool same_shape_of_image(int width, int height, int image_width, int image_height);

/// A map in another size: each pixel has the value of the nearest one.
Image<float> resized_to_nearest(Image<float> map, int width, int height);

}  // namespace recon

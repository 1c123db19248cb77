#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/image/image_file.hpp"
#include "io/model/pair_folder.hpp"
#include "methods/backend.hpp"
#include "methods/stereo/pair.hpp"
#include "session/options/inputs.hpp"
#include "session/options/options.hpp"

namespace recon {

/// The plan of a rectified pair.
struct PairPlan {
  PairFiles files;
  PairJob job = {};
  ImageSize size;                      ///< of both images
  std::optional<StereoCamera> camera;  ///< of the images' size; nothing without a calibration
  std::string calibration_format;      ///< see PairCalibration
  std::string calibration_note;
  std::string calibration_fault = {};  ///< of a file that is a calibration by its name alone, and is not used
  LengthUnit unit = LengthUnit::kUnstated;  ///< of depths
  double depth_step = 0;                    ///< that a step of depth.png is, in this unit; 0: there is none
  PairSpec options;
  std::uint64_t file_bytes = 0;  ///< of the larger image file

  /// How messages and reports call the pair: its folder, or the left image.
  std::string name() const { return input_name(files).string(); }
};

/// Reads the calibration and the headers of the images.
/// @throws InputError when they do not fit together
/// @throws UsageError when the disparities to search are neither given nor in the calibration, or none
PairPlan make_pair_plan(const PairFiles& files, const PairJob& job);

/// @throws UsageError when a method and its range do not fit images of this size
void check_pair_size(const PairSpec& options, ImageSize size);

/// The images of a pair in grey, as `GreyPair` wants them, and for a pipeline in colour.
struct PairImages {
  Image<std::uint8_t> left, right;
  Image<std::uint16_t> left16, right16;
  SampleLevels levels;  ///< what becomes 0 and 255 in 8 bits, of 16
  Image<Rgb8> left_colour, right_colour;
  std::vector<std::string> warnings;  ///< of files that are damaged and used all the same

  GreyPair view() const { return {left.view(), right.view(), left16.view(), right16.view()}; }
  ColourPair colour() const { return {left_colour.view(), right_colour.view()}; }
};

/// Converts both images to one depth: if one has 16 bits, the other gets 16 too (255 becomes what is white in
/// the first, see `levels_of`), and the brightest pixel of both becomes 255 in the 8-bit images.
PairImages common_depth(StoredGrey left, StoredGrey right);

/// What the results of a pair depend on: options, images and cameras.
/// @throws InputError when an image cannot be read
nlohmann::json record_inputs(const PairPlan& plan, const RecordedOptions& recorded);

/// What is black and white in 16-bit images of a pair, for the colours of its points.
/// @throws InputError when an image cannot be read
SampleLevels colour_levels(const PairFiles& files);

/// @throws InputError when an image cannot be read, or is not of the plan's size
PairImages read_pair_images(const PairPlan& plan);

/// An image of a pair in colour; `read_pair_images` has warned of its damage.
/// @throws InputError when it cannot be read
Image<Rgb8> read_pair_colour(const std::filesystem::path& file, SampleLevels levels);

/// The disparities of a pair, without patches of less than `min_patch` pixels.
/// @param matched  called between the matching and what follows it, unless empty
/// @throws OutOfMemory, DeviceError, Interrupted
Image<float> match_pair(Backend& backend, const PairProblem& problem, int min_patch,
                        const std::function<void()>& matched = {});

/// Shares of pixels that block matching finds a disparity for in images of half the size.
struct OrderShares {
  double as_given = 0;
  double swapped = 0;  ///< with left and right exchanged

  /// Whether far more of the images matches the other way round. A pair in the wrong order still matches by
  /// chance, more so the fewer disparities are searched.
  bool seem_swapped() const { return as_given < 0.7 * swapped; }
};

/// Matches the 8-bit images both ways, with the disparities of `range`, halved. Much cheaper than any method
/// on the images as they are.
/// @throws OutOfMemory, DeviceError
OrderShares compare_orders(Backend& backend, const GreyPair& images, DisparityRange range);

/// Max memory of `compare_orders`, without `images`.
/// @throws OutOfMemory when that exceeds the limits of the backend
WorkMemory compare_orders_memory(const Backend& backend, int width, int height, DisparityRange range);

}  // namespace recon

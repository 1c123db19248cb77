#include "session/pair/pair_input.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/paths.hpp"
#include "core/pixels.hpp"
#include "core/version.hpp"
#include "io/file/input_file.hpp"
#include "refine/depth_filters.hpp"
#include "session/options/option_text.hpp"
#include "session/products/stores.hpp"

namespace recon {

namespace {

ImageSize common_size(const PairFiles& files) {
  const ImageSize left = image_size(files.left), right = image_size(files.right);
  if (!(left == right))
    throw InputError(files.left.string() + " has " + size_text(left.width, left.height) + " pixels and " +
                     files.right.string() + " has " + size_text(right.width, right.height) +
                     "; the images of a rectified pair have the same size" + files.advice);
  return left;
}

std::uint64_t bytes_of(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

/// The camera for images of `size`, which the calibration may name too.
StereoCamera camera_of(const PairCalibration& calibration, ImageSize size, const PairFiles& files) {
  StereoCamera camera = calibration.camera;
  Pinhole& left = camera.left;
  if ((left.width != 0 && left.width != size.width) || (left.height != 0 && left.height != size.height))
    throw InputError(files.calibration.string() + ": width and height are " +
                     size_text(left.width, left.height) + ", but " + files.left.string() + " has " +
                     size_text(size.width, size.height) +
                     " pixels; the calibration is of images of another size");
  left.width = size.width;
  left.height = size.height;
  return camera;
}

/// --calibration, inside the folder of a pair or anywhere.
std::filesystem::path calibration_of(const PairFiles& files, const std::filesystem::path& given) {
  const std::filesystem::path inside = files.root / given;
  return !files.root.empty() && is_there(inside) ? inside : given;
}

/// The step of depth.png in units of the calibration. @param given  0: a millimetre
double depth_step(double given, const PairPlan& plan) {
  if (!plan.camera)
    throw UsageError("--depth-png needs a calibration, which " + plan.name() +
                     " has not: give --calibration");
  if (given > 0) return given;
  if (plan.unit == LengthUnit::kUnstated)
    throw UsageError("--depth-png mm: " + plan.files.calibration.string() + " of " + plan.calibration_format +
                     " does not say its unit; give the number of its units that a step is: 1 for millimetres "
                     "in millimetres, 0.001 in metres");
  return plan.unit == LengthUnit::kMetre ? 0.001 : 1;
}

/// The end of the disparities that the calibration or the user names.
int end_of_disparities(const PairSettings& settings, const std::optional<PairCalibration>& calibration,
                       const PairFiles& files) {
  if (settings.max_disparity) return *settings.max_disparity;
  if (!calibration) {
    const std::filesystem::path beside = files.left.parent_path() / "calib.txt";
    const bool is_beside = files.root.empty() && is_there(beside);
    throw UsageError(
        files.left.string() + ": --max-disparity is needed, as there is no " +
        (is_beside ? "calibration" : "calib.txt") + ": where the search ends, in pixels, such as 64" +
        (is_beside ? "; calib.txt is read of a folder with images only: give --calibration " + beside.string()
                   : files.advice));
  }
  if (!calibration->disparities)
    throw UsageError(files.calibration.string() + " has no ndisp; --max-disparity is needed");
  return *calibration->disparities;
}

void check_range(int min, int end, const PairFiles& files) {
  const std::string range = "ndisp is " + std::to_string(end);
  if (min >= end)
    throw UsageError("--min-disparity is " + std::to_string(min) + ", but of " + files.calibration.string() +
                     " " + range + "; searched is min <= d < ndisp");
  if (static_cast<std::int64_t>(end) - min > kMaxDisparities)
    throw InputError(files.calibration.string() + ": " + range + "; at most " +
                     std::to_string(kMaxDisparities) +
                     " disparities are searched: give --min-disparity and --max-disparity");
}

/// Some pixel of the left image has to have a partner in the right one at some disparity.
void check_overlap(DisparityRange range, ImageSize size) {
  if (range.min < size.width && range.min + range.count - 1 > -size.width) return;
  throw UsageError("--min-disparity and --max-disparity: searched is " + std::to_string(range.min) +
                   " <= d < " + std::to_string(range.min + range.count) + ", but the images are only " +
                   std::to_string(size.width) + " pixels wide");
}

void check_region(const Region& region, ImageSize size) {
  if (region.x <= size.width - region.width && region.y <= size.height - region.height) return;
  throw UsageError("--roi is " + format_region(region) + ", which leads outside the images of " +
                   size_text(size.width, size.height) + " pixels");
}

/// @param white  of 16 bits, what 255 of 8 bits is
Image<std::uint16_t> as_16_bits(StoredGrey& image, std::uint32_t white) {
  if (!image.of_16_bits.empty()) return std::move(image.of_16_bits);
  return mapped<std::uint16_t>(image.of_8_bits, [white](std::uint8_t value) {
    return static_cast<std::uint16_t>((value * white + 127) / 255);
  });
}

SampleRange range_of(const Image<std::uint16_t>& image) {
  SampleRange range;
  for (int y = 0; y < image.height(); ++y) {
    const auto [min, max] = std::minmax_element(image.row(y), image.row(y) + image.width());
    range.include({*min, *max});
  }
  return range;
}

/// round(255 (v - black) / (white - black)).
Image<std::uint8_t> as_8_bits(const Image<std::uint16_t>& image, SampleLevels levels) {
  const std::uint32_t span = levels.white - levels.black;
  return mapped<std::uint8_t>(image, [&](std::uint16_t value) {
    return static_cast<std::uint8_t>((255u * (value - levels.black) + span / 2) / span);
  });
}

/// Block matching with its defaults of the disparities that `range` becomes at half the size.
PairSpec options_for(DisparityRange range) {
  const int min = static_cast<int>(std::floor(range.min / 2.0));
  const int last = static_cast<int>(std::ceil((range.min + range.count - 1) / 2.0));
  return {presets::block_matching(), {min, last - min + 1}};
}

double matched_share(Backend& backend, const Image<std::uint8_t>& left, const Image<std::uint8_t>& right,
                     DisparityRange range) {
  return known_share(backend.match({{left.view(), right.view(), {}, {}}, options_for(range)}).disparity);
}

}  // namespace

namespace {

/// Reads the calibration of a plan that has its files and its size, and sets its camera. A file that is only
/// by its name one, such as calibration.yml, may be of something else.
std::optional<PairCalibration> calibration_for(PairPlan& plan) {
  const PairFiles& files = plan.files;
  if (files.calibration.empty()) return std::nullopt;
  try {
    auto calibration = read_pair_calibration(files.calibration, kitti_cameras(files.left, files.right));
    plan.camera = camera_of(calibration, plan.size, files);
    return calibration;
  } catch (const InputError& error) {
    if (!plan.job.settings.calibration.empty() || files.calibration.filename() == "calib.txt") throw;
    plan.calibration_fault =
        std::string(error.what()) +
        "; the pair is matched without a calibration, which --calibration names otherwise";
    plan.files.calibration.clear();
    return std::nullopt;
  }
}

}  // namespace

PairPlan make_pair_plan(const PairFiles& given, const PairJob& job) {
  const PairSettings& settings = job.settings;
  PairPlan plan;
  plan.job = job;
  plan.files = given;
  if (!settings.calibration.empty()) plan.files.calibration = calibration_of(given, settings.calibration);
  const PairFiles& files = plan.files;
  plan.size = common_size(files);
  const std::optional<PairCalibration> calibration = calibration_for(plan);
  const int min = settings.min_disparity.value_or(0);
  const int end = end_of_disparities(settings, calibration, files);
  check_range(min, end, files);
  plan.file_bytes = std::max(bytes_of(files.left), bytes_of(files.right));
  if (calibration) {
    plan.calibration_format = calibration->format;
    plan.calibration_note = calibration->note;
    plan.unit = calibration->unit;
  }
  if (settings.depth_png) plan.depth_step = depth_step(*settings.depth_png, plan);
  plan.options = {job.spec, {min, end - min}};
  check_pair_size(plan.options, plan.size);
  return plan;
}

void check_pair_size(const PairSpec& options, ImageSize size) {
  check_overlap(options.range, size);
  if (fused_stages(options) == FusedStages::kBlocks) check_region(options.block.region, size);
}

PairImages common_depth(StoredGrey left, StoredGrey right) {
  PairImages images;
  if (left.of_16_bits.empty() && right.of_16_bits.empty()) {
    images.left = std::move(left.of_8_bits);
    images.right = std::move(right.of_8_bits);
    return images;
  }
  SampleRange range;
  for (const StoredGrey* image : {&left, &right})
    if (!image->of_16_bits.empty()) range.include(range_of(image->of_16_bits));
  const bool both = left.of_8_bits.empty() && right.of_8_bits.empty();
  const SampleLevels levels = levels_of(range);
  images.left16 = as_16_bits(left, levels.white);
  images.right16 = as_16_bits(right, levels.white);
  range.include(range_of(images.left16));
  range.include(range_of(images.right16));
  images.levels = {std::max(range.max, 1u), both ? levels.black : 0};
  images.left = as_8_bits(images.left16, images.levels);
  images.right = as_8_bits(images.right16, images.levels);
  return images;
}

nlohmann::json record_inputs(const PairPlan& plan, const RecordedOptions& recorded) {
  const auto hash = [](const std::filesystem::path& path) {
    const auto identity = identify_file(path);
    if (!identity) throw InputError(path.string() + ": cannot be read");
    return identity->hash;
  };
  RecordedOptions::Values options =
      recorded.of({OptionResult::kDepthMaps, OptionResult::kCloud, OptionResult::kCloudFile});
  // They may come from the calibration.
  const DisparityRange range = plan.options.range;
  options["min-disparity"] = std::to_string(range.min);
  options["max-disparity"] = std::to_string(range.min + range.count);
  nlohmann::json inputs = {{"version", kResultsVersion},
                           {"options", options},
                           {"left", hash(plan.files.left)},
                           {"right", hash(plan.files.right)}};
  if (plan.depth_step > 0) inputs["depth_step"] = plan.depth_step;
  if (plan.camera) {
    const Pinhole& left = plan.camera->left;
    inputs["camera"] = {left.fx, left.fy, left.cx, left.cy, plan.camera->baseline, plan.camera->offset};
  }
  return inputs;
}

SampleLevels colour_levels(const PairFiles& files) {
  SampleRange range;
  for (const auto& file : {files.left, files.right}) {
    const std::string content = read_file(file);
    if (!has_plain_samples(content)) range.include(inspect_photo(content, file.string()).range);
  }
  return levels_of(range);
}

PairImages read_pair_images(const PairPlan& plan) {
  std::string left_damage, right_damage;
  StoredGrey left = read_stored_grey(plan.files.left, &left_damage);
  PairImages images = common_depth(std::move(left), read_stored_grey(plan.files.right, &right_damage));
  for (const auto& [file, damage] :
       {std::pair{&plan.files.left, &left_damage}, {&plan.files.right, &right_damage}})
    if (!damage->empty()) images.warnings.push_back(file->string() + ": " + *damage);
  for (const auto& [image, file] :
       {std::pair{&images.left, &plan.files.left}, {&images.right, &plan.files.right}})
    if (image->width() != plan.size.width || image->height() != plan.size.height)
      throw InputError(file->string() + ": the header says " + size_text(plan.size.width, plan.size.height) +
                       " pixels, but there are " + size_text(image->width(), image->height()) +
                       "; the image is damaged");
  if (!fused_stages(plan.options)) {
    images.left_colour = read_pair_colour(plan.files.left, images.levels);
    images.right_colour = read_pair_colour(plan.files.right, images.levels);
  }
  return images;
}

Image<Rgb8> read_pair_colour(const std::filesystem::path& file, SampleLevels levels) {
  std::string damage;
  return read_image(file, levels, &damage);
}

Image<float> match_pair(Backend& backend, const PairProblem& problem, int min_patch,
                        const std::function<void()>& matched) {
  Image<float> disparity = std::move(backend.match(problem).disparity);
  if (matched) matched();
  remove_disparity_speckles(disparity.view(), min_patch);
  return disparity;
}

OrderShares compare_orders(Backend& backend, const GreyPair& images, DisparityRange range) {
  const Image<std::uint8_t> left = halved(images.left), right = halved(images.right);
  return {matched_share(backend, left, right, range), matched_share(backend, right, left, range)};
}

WorkMemory compare_orders_memory(const Backend& backend, int width, int height, DisparityRange range) {
  return backend.pair_memory((width + 1) / 2, (height + 1) / 2, options_for(range));
}

}  // namespace recon

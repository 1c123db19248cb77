#include "reconstruct/stereo.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/call.hpp"
#include "api/convert.hpp"
#include "methods/stereo/pair.hpp"
#include "refine/fill.hpp"
#include "session/pair/pair_input.hpp"

namespace reconstruct {

recon::PairSpec detail::pair_spec(const recon::PairJob& job, int width, int height) {
  if (!job.settings.max_disparity)
    throw UsageError("--max-disparity is needed: where the search ends, in pixels, such as 64");
  const int min = job.settings.min_disparity.value_or(0);
  recon::PairSpec spec(job.spec, {min, *job.settings.max_disparity - min});
  recon::check_pair_size(spec, {width, height});
  return spec;
}

void detail::check_batch(std::size_t left, std::size_t right) {
  if (left == 0 || left != right)
    throw UsageError("there are " + std::to_string(left) + " left and " + std::to_string(right) +
                     " right images; a batch has as many of both, at least one");
}

namespace {

using namespace recon;
using reconstruct::ImageView;

Disparities match_images(Backend& backend, const ImageView& left, const ImageView& right,
                         const PairJob& job) {
  const PairSpec spec = detail::pair_spec(job, left.width, left.height);
  backend.pair_memory(left.width, left.height, spec);  // throws where it does not suffice
  PairImages images = common_depth(detail::stored_grey(left), detail::stored_grey(right));
  if (!fused_stages(spec)) {
    images.left_colour = detail::colour_of(left, images.levels);
    images.right_colour = detail::colour_of(right, images.levels);
  }
  Image<float> disparity = match_pair(backend, {images.view(), spec, images.colour()}, job.min_patch);
  Image<std::uint8_t> filled;
  if (job.settings.fill) {
    if (images.left_colour.empty()) images.left_colour = detail::colour_of(left, images.levels);
    filled = fill_disparity(disparity.view(), images.left_colour.view(), spec.range.min, spec.range.count);
  }
  return {detail::map_of<float>(std::move(disparity)), detail::map_of<std::uint8_t>(std::move(filled))};
}

/// @param of  what names begin with
void check_images(const ImageView& left, const ImageView& right, const std::string& of = "") {
  detail::check_image(left, of + "left");
  detail::check_image(right, of + "right");
  if (left.width != right.width || left.height != right.height)
    throw UsageError(of + "left has " + size_text(left.width, left.height) + " pixels and right " +
                     size_text(right.width, right.height) +
                     "; the images of a rectified pair have the same size");
}

void check_batch(const std::vector<ImageView>& left, const std::vector<ImageView>& right) {
  detail::check_batch(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::string of = "pair " + std::to_string(i) + ": ";
    check_images(left[i], right[i], of);
    if (left[i].width != left[0].width || left[i].height != left[0].height)
      throw UsageError(of + "left has " + size_text(left[i].width, left[i].height) +
                       " pixels, that of pair 0 " + size_text(left[0].width, left[0].height) +
                       "; the images of a batch have one size");
  }
}

/// The maps of a batch in one allocation.
template <class T>
class BatchMaps {
 public:
  BatchMaps(int width, int height, int count) : height_(height), all_(map_of(width, height, count)) {}

  Map<T> at(int i) const { return {{all_.data, all_.row(i * height_)}, all_.width, height_, all_.pitch}; }
  /// A copy of a map, which is of its size.
  Map<T> put(int i, const Map<T>& map) const {
    const Map<T> to = at(i);
    for (int y = 0; y < height_; ++y) std::copy_n(map.row(y), map.width, to.row(y));
    return to;
  }

 private:
  static Map<T> map_of(int width, int height, int count) {
    const std::size_t rows = element_count({height, count});
    if (rows > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw UsageError("a batch of " + std::to_string(count) + " pairs of " + std::to_string(height) +
                       " rows; all rows together must be fewer than 2^31");
    return detail::map_of<T>(Image<T>(width, static_cast<int>(rows)));
  }

  int height_;
  Map<T> all_;
};

std::vector<Disparities> match_all(Backend& backend, const std::vector<ImageView>& left,
                                   const std::vector<ImageView>& right, const PairJob& job) {
  const int count = static_cast<int>(left.size());
  const BatchMaps<float> disparities(left[0].width, left[0].height, count);
  std::optional<BatchMaps<std::uint8_t>> filled;
  if (job.settings.fill) filled.emplace(left[0].width, left[0].height, count);
  std::vector<Disparities> results;
  for (int i = 0; i < count; ++i) {
    const Disparities found = match_images(backend, left[i], right[i], job);
    results.push_back({disparities.put(i, found.disparity), {}});
    if (filled) results.back().filled = filled->put(i, found.filled);
  }
  return results;
}

}  // namespace

Disparities match(const Device& device, const ImageView& left, const ImageView& right, const Options& options,
                  std::stop_token stop) {
  return detail::on_device(device, std::move(stop), [&](const detail::OpenDevice& opened) {
    check_images(left, right);
    return match_images(opened.front(), left, right,
                        detail::parse_results_options(options, "match", true).pair_job());
  });
}

std::vector<Disparities> match_batch(const Device& device, const std::vector<ImageView>& left,
                                     const std::vector<ImageView>& right, const Options& options,
                                     std::stop_token stop) {
  return detail::on_device(device, std::move(stop), [&](const detail::OpenDevice& opened) {
    check_batch(left, right);
    return match_all(opened.front(), left, right,
                     detail::parse_results_options(options, "match", true).pair_job());
  });
}

}  // namespace reconstruct

#include "reconstruct/stereo.hpp"

#include <utility>

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

}  // namespace

Disparities match(const Device& device, const ImageView& left, const ImageView& right, const Options& options,
                  std::stop_token stop) {
  return detail::on_device(device, std::move(stop), [&](const detail::OpenDevice& opened) {
    detail::check_image(left, "left");
    detail::check_image(right, "right");
    if (left.width != right.width || left.height != right.height)
      throw UsageError("left has " + size_text(left.width, left.height) + " pixels and right " +
                       size_text(right.width, right.height) +
                       "; the images of a rectified pair have the same size");
    return match_images(opened.front(), left, right,
                        detail::parse_results_options(options, "match", true).pair_job());
  });
}

}  // namespace reconstruct

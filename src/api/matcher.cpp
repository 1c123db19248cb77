#include "reconstruct/matcher.hpp"

#include <algorithm>
#include <string>

#include "api/call.hpp"
#include "match/posed_image.hpp"
#include "methods/stereo/device_matcher.hpp"

namespace reconstruct {

namespace detail {

struct MatcherState {
  Device device;  ///< outlives the matcher
  int width, height;
  PixelType type;
  std::unique_ptr<recon::DeviceMatcher> matcher;
};

}  // namespace detail

namespace {

int channels_of(PixelType type) {
  return type == PixelType::kRgb8 ? 3 : 1;
}

/// @param name  what messages call it
void check_type(PixelType type, const std::string& name) {
  if (type != PixelType::kGrey16) return;
  throw UsageError(name + " of 16 bits: a matcher takes 8, as what is black and white in 16 depends on all " +
                   "pixels of both images; match() of images in host memory takes them");
}

recon::DevicePixels pixels_of(const DeviceImage& image, const std::string& name) {
  check_type(image.type, name + " is");
  return {static_cast<const std::uint8_t*>(image.data),
          image.width,
          image.height,
          image.pitch,
          channels_of(image.type),
          image.stream};
}

recon::DeviceMatching matching_of(int width, int height, PixelType type, const Options& options) {
  if (std::min(width, height) < 1 || std::max(width, height) > recon::kMaxImageSide)
    throw UsageError("a matcher for " + std::to_string(width) + "x" + std::to_string(height) +
                     " pixels; each side must be 1 to " + std::to_string(recon::kMaxImageSide));
  check_type(type, "images");
  const recon::PairJob job = detail::parse_results_options(options, "Matcher", true).pair_job();
  if (job.settings.fill)
    throw UsageError("--fill is computed on the host: match() of images in host memory does it");
  return {width, height, channels_of(type), detail::pair_spec(job, width, height), job.min_patch};
}

}  // namespace

Matcher::Matcher(const Device& device, int width, int height, PixelType type, const Options& options)
    : state_(detail::guarded([&] {
        const recon::DeviceMatching matching = matching_of(width, height, type, options);
        return std::make_shared<const detail::MatcherState>(detail::MatcherState{
            device, width, height, type, device.opened().front().device_matcher(matching)});
      })) {}

void Matcher::match(const DeviceImage& left, const DeviceImage& right, const DeviceMapView& disparity,
                    void* stream) const {
  detail::guarded([&] {
    state().matcher->match(
        pixels_of(left, "left"), pixels_of(right, "right"),
        {disparity.data, disparity.width, disparity.height, disparity.pitch, disparity.stream}, stream);
  });
}

void Matcher::order_after_match(void* stream) const {
  detail::guarded([&] { state().matcher->order_after_match(stream); });
}

DeviceMap Matcher::new_map() const {
  return detail::guarded([&] {
    const std::ptrdiff_t pitch = static_cast<std::ptrdiff_t>(sizeof(float)) * width();
    return DeviceMap{state().matcher->new_map(), width(), height(), pitch};
  });
}

int Matcher::width() const {
  return state().width;
}

int Matcher::height() const {
  return state().height;
}

PixelType Matcher::type() const {
  return state().type;
}

int Matcher::device() const {
  return state().matcher->device();
}

std::size_t Matcher::bytes() const {
  return state().matcher->bytes();
}

const detail::MatcherState& Matcher::state() const {
  if (empty()) throw UsageError("the matcher is empty: it was moved from");
  return *state_;
}

}  // namespace reconstruct

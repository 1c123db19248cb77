#include "reconstruct/matcher.hpp"

#include <string>

#include "api/call.hpp"
#include "api/device_arrays.hpp"
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

constexpr const char *kOwner = "a matcher", *kHost = "match()";

recon::DevicePair pair_of(const DeviceImage& left, const DeviceImage& right, const DeviceMapView& disparity,
                          const std::string& of = "") {
  return {detail::pixels_of(left, of + "left", kOwner, kHost),
          detail::pixels_of(right, of + "right", kOwner, kHost), detail::floats_of(disparity)};
}

recon::DeviceMatching matching_of(int width, int height, PixelType type, const Options& options) {
  detail::check_device_images(width, height, type, kOwner, kHost);
  const recon::PairJob job = detail::parse_results_options(options, "Matcher", true).pair_job();
  if (job.settings.fill)
    throw UsageError("--fill is computed on the host: match() of images in host memory does it");
  return {width, height, detail::channels_of(type), detail::pair_spec(job, width, height), job.min_patch};
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
  detail::guarded([&] { state().matcher->match({pair_of(left, right, disparity)}, stream); });
}

void Matcher::match_batch(const std::vector<DeviceImage>& left, const std::vector<DeviceImage>& right,
                          const std::vector<DeviceMapView>& disparities, void* stream) const {
  detail::guarded([&] {
    const detail::MatcherState& it = state();
    detail::check_batch(left.size(), right.size());
    if (disparities.size() != left.size())
      throw UsageError("there are " + std::to_string(disparities.size()) + " maps for " +
                       std::to_string(left.size()) + " pairs");
    std::vector<recon::DevicePair> pairs;
    for (std::size_t i = 0; i < left.size(); ++i)
      pairs.push_back(pair_of(left[i], right[i], disparities[i], "pair " + std::to_string(i) + ": "));
    it.matcher->match(pairs, stream);
  });
}

void Matcher::order_after_match(void* stream) const {
  detail::guarded([&] { state().matcher->order_after(stream); });
}

DeviceMap Matcher::new_map() const {
  return new_maps(1).front();
}

std::vector<DeviceMap> Matcher::new_maps(int count) const {
  return detail::guarded([&] {
    const detail::MatcherState& it = state();
    if (count < 1) throw UsageError("there are " + std::to_string(count) + " maps; a batch has at least one");
    const std::size_t pixels = recon::element_count({it.width, it.height});
    const std::shared_ptr<float> values =
        it.matcher->new_floats(recon::element_count({it.width, it.height, count}));
    std::vector<DeviceMap> maps;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      maps.push_back(detail::device_map<float>({values, values.get() + i * pixels}, it.width, it.height));
    return maps;
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

#include "reconstruct/sweeper.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "api/call.hpp"
#include "api/device_arrays.hpp"
#include "api/sweep_call.hpp"
#include "core/image.hpp"
#include "core/plain_number.hpp"
#include "methods/sweep/device_sweeper.hpp"

namespace reconstruct {

namespace detail {

struct SweeperState {
  Device device;  ///< outlives the sweeper
  int width, height;
  PixelType type;
  int sources;
  recon::SceneSettings settings;
  std::unique_ptr<recon::DeviceSweeper> sweeper;
};

}  // namespace detail

namespace {

constexpr const char *kOwner = "a sweeper", *kHost = "sweep()";

/// The largest problem: what cameras and poses change is the number of planes.
recon::DeviceSweeping sweeping_of(int width, int height, PixelType type, int sources,
                                  const recon::MatchingSettings& matching) {
  detail::check_device_images(width, height, type, kOwner, kHost);
  if (sources < 1 || sources > recon::kMaxSources)
    throw UsageError("a sweeper for " + std::to_string(sources) + " sources; it takes 1 to " +
                     std::to_string(recon::kMaxSources));
  recon::SweepShape shape{matching.spec};
  shape.width = shape.source_width = width;
  shape.height = shape.source_height = height;
  shape.channels = matching.colour ? 3 : 1;
  shape.sources = sources;
  shape.planes = matching.planes.value_or(recon::kMaxAutoPlanes);
  if (matching.patches()) shape.patch_match.levels = recon::patch_levels(std::min(width, height), matching);
  return {shape, detail::channels_of(type)};
}

/// Sets the bounds that a call has.
void set_bounds(const DepthBounds& given, recon::DepthRange& bounds) {
  for (const auto& [bound, to] : {std::pair{&given.min, &bounds.near}, {&given.max, &bounds.far}}) {
    if (!*bound) continue;
    if (!std::isfinite(**bound) || **bound <= 0)
      throw UsageError("a bound of the depths is " + recon::plain(**bound) +
                       "; it must be finite and above 0");
    *to = **bound;
  }
  if (!(bounds.near < bounds.far))
    throw UsageError("the depths are bounded by " + recon::plain(bounds.near) + " and " +
                     recon::plain(bounds.far) + "; the min must be the smaller");
}

std::vector<detail::PlacedView> placed_views(const DeviceView& reference,
                                             const std::vector<DeviceView>& sources, int width, int height) {
  std::vector<detail::PlacedView> placed = {{reference.camera, reference.cam_from_world, width, height}};
  for (const DeviceView& source : sources)
    placed.push_back({source.camera, source.cam_from_world, width, height});
  return placed;
}

void sweep_views(const detail::SweeperState& state, const DeviceView& reference,
                 const std::vector<DeviceView>& sources, const DeviceDepthMapsView& maps, void* stream,
                 const DepthBounds& bounds) {
  recon::SceneSettings settings = state.settings;
  recon::MatchingSettings& matching = settings.matching;
  set_bounds(bounds, matching.bounds);
  recon::DeviceSweep call;
  call.images.push_back(detail::pixels_of(reference.image, recon::name_in_sweep(0), kOwner, kHost));
  for (std::size_t i = 0; i < sources.size(); ++i)
    call.images.push_back(detail::pixels_of(sources[i].image, recon::name_in_sweep(i + 1), kOwner, kHost));
  call.mask = detail::pixels_of(reference.mask, "the mask of the reference", kOwner, kHost);
  call.depth = detail::floats_of(maps.depth);
  call.normal = detail::floats_of(maps.normal);
  call.confidence = detail::floats_of(maps.confidence);
  const recon::ScenePlan plan =
      detail::sweep_plan(placed_views(reference, sources, state.width, state.height), settings);
  call.problem = recon::sweep_problem(plan, 0, matching);
  call.filter = matching.filter;
  call.bounds = matching.bounds;
  call.choose_planes = [&](const recon::SearchWork& search, recon::SweepProblem& problem) {
    const auto found = [&](const recon::SweepProblem& sweep) { return recon::found_range(search, sweep); };
    recon::narrow_planes(found, plan, 0, matching, problem);
  };
  state.sweeper->sweep(std::move(call), stream);
}

}  // namespace

Sweeper::Sweeper(const Device& device, int width, int height, PixelType type, int sources,
                 const Options& options)
    : state_(detail::guarded([&] {
        recon::SceneSettings settings = detail::sweep_settings(options, "Sweeper");
        const recon::DeviceSweeping sweeping = sweeping_of(width, height, type, sources, settings.matching);
        auto sweeper = device.opened().front().device_sweeper(sweeping);
        return std::make_shared<const detail::SweeperState>(detail::SweeperState{
            device, width, height, type, sources, std::move(settings), std::move(sweeper)});
      })) {}

void Sweeper::sweep(const DeviceView& reference, const std::vector<DeviceView>& sources,
                    const DeviceDepthMapsView& maps, void* stream, const DepthBounds& bounds) const {
  // On the calling thread, which a stream may belong to.
  detail::guarded([&] { sweep_views(state(), reference, sources, maps, stream, bounds); });
}

void Sweeper::order_after_sweep(void* stream) const {
  detail::guarded([&] { state().sweeper->order_after(stream); });
}

DeviceDepthMaps Sweeper::new_maps() const {
  return detail::guarded([&] {
    const detail::SweeperState& it = state();
    const std::size_t pixels = recon::element_count({it.width, it.height});
    const std::shared_ptr<float> values = it.sweeper->new_floats(5 * pixels);
    const auto from = [&](std::size_t begin) {
      return std::shared_ptr<float>(values, values.get() + begin * pixels);
    };
    return DeviceDepthMaps{detail::device_map<float>(from(0), it.width, it.height),
                           detail::device_map<Vector3f>(from(2), it.width, it.height),
                           detail::device_map<float>(from(1), it.width, it.height)};
  });
}

int Sweeper::width() const {
  return state().width;
}

int Sweeper::height() const {
  return state().height;
}

PixelType Sweeper::type() const {
  return state().type;
}

int Sweeper::sources() const {
  return state().sources;
}

int Sweeper::device() const {
  return state().sweeper->device();
}

std::size_t Sweeper::bytes() const {
  return state().sweeper->bytes();
}

const detail::SweeperState& Sweeper::state() const {
  if (empty()) throw UsageError("the sweeper is empty: it was moved from");
  return *state_;
}

}  // namespace reconstruct

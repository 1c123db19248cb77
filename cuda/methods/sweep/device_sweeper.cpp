#include "cuda/methods/sweep/device_sweeper.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/vec.hpp"
#include "cuda/methods/device_calls.hpp"
#include "cuda/methods/sweep/device_views.hpp"
#include "cuda/methods/sweep/sweep_executor.hpp"
#include "cuda/refine/median.hpp"
#include "cuda/refine/normals.hpp"
#include "cuda/refine/view_filters.hpp"
#include "methods/sweep/view_sweep.hpp"

namespace recon::cuda {
namespace {

/// The images of a sweep in memory of an arena. One that counts them queues nothing.
class StagedImages {
 public:
  StagedImages(Arena& arena, const Stream* stream) : arena_(arena), stream_(stream) {}

  /// Sets the pixels of a problem. @param images  of the callers; none where they are counted
  void import(const std::vector<DevicePixels>& images, SweepProblem& problem) {
    ViewTarget reference = take(problem.reference);
    if (has_step(problem.refine, kNeedsColours)) {
      const Pinhole& camera = problem.reference.camera;
      reference.colours = arena_.take<Rgb8>(element_count({camera.width, camera.height}));
      problem.colours = {reference.colours, camera.width, camera.height, camera.width};
    }
    if (stream_ != nullptr) launch_import_view(images.front(), reference, stream_->get());
    for (std::size_t i = 0; i < problem.sources.size(); ++i) {
      const ViewTarget source = take(problem.sources[i]);
      if (stream_ != nullptr) launch_import_view(images[i + 1], source, stream_->get());
    }
    if (has_patches(problem)) halve_images(problem, halve_channel());
  }

  /// Halves channels into further memory of the arena.
  HalveChannel halve_channel() {
    return [this](const ImageView<const std::uint8_t>& from) {
      const int width = (from.width + 1) / 2, height = (from.height + 1) / 2;
      std::uint8_t* half = arena_.take<std::uint8_t>(padded_elements<std::uint8_t>(width, height));
      const std::ptrdiff_t pitch = padded_count<std::uint8_t>(width);
      if (stream_ != nullptr)
        launch_halved(from.data, from.pitch, from.width, from.height, half, pitch, stream_->get());
      return ImageView<const std::uint8_t>{half, width, height, pitch};
    };
  }

 private:
  ViewTarget take(PosedImage& image) {
    const int width = image.camera.width, height = image.camera.height;
    ViewTarget target;
    target.pitch = padded_count<std::uint8_t>(width);
    for (int c = 0; c < image.channels; ++c) {
      target.channel[c] = arena_.take<std::uint8_t>(padded_elements<std::uint8_t>(width, height));
      image.channel[static_cast<std::size_t>(c)] = {target.channel[c], width, height, target.pitch};
    }
    image.on_device = true;
    return target;
  }

  Arena& arena_;
  const Stream* stream_;
};

/// The maps of a sweep between its stages and the caller; rows have no padding.
struct SweeperMaps {
  DeviceEstimate swept;  ///< see queue_view
  float* depth[2];       ///< in turn
  float* confidence;
  Vec3f* normal;
  int* labels;  ///< of speckles, as the sizes
  int* sizes;

  SweeperMaps(const SweepShape& shape, Arena& arena) {
    const SweepShape by_planes = has_patches(shape) ? coarsest_shape(shape) : shape;
    const std::size_t pixels = element_count({shape.width, shape.height});
    swept = {{}, by_planes.width, by_planes.width, by_planes.height};
    for (float*& map : swept.maps)
      map = arena.take<float>(element_count({by_planes.width, by_planes.height}));
    for (float*& map : depth) map = arena.take<float>(pixels);
    confidence = arena.take<float>(pixels);
    normal = arena.take<Vec3f>(pixels);
    labels = arena.take<int>(pixels);
    sizes = arena.take<int>(pixels);
  }
};

/// What a sweeper has on its device.
class SweeperWork {
 public:
  SweeperWork(const DeviceSweeping& sweeping, std::size_t memory_limit) : shape_(sweeping.shape) {
    check_sweeps_on_device(shape_);
    const std::size_t images = bytes_taken([&](Arena& counter) {
      const SweeperMaps maps(shape_, counter);
      StagedImages staged(counter, nullptr);
      SweepProblem problem = sized_problem(shape_);
      staged.import({}, problem);
      // Those of a search are halved further.
      SweepImages search = problem;
      if (!problem.coarser.empty()) search = problem.coarser.back();
      while (longest_side(search) > 1) halve_all(search, staged.halve_channel());
    });
    limit_ = memory_limit - std::min(memory_limit, images);
    const std::size_t largest =
        std::max(plan_sweep(shape_, limit_).bytes, plan_sweep(search_shape(shape_), limit_).bytes);
    images_.reset(images);
    maps_.emplace(shape_, images_);
    images_begin_ = images_.used();
    workspace_.arena.reset(largest);
    workspace_.stream.synchronize();
  }
  ~SweeperWork() { order.synchronize(); }  // before the memory is freed

  void queue(DeviceSweep& call, cudaStream_t stream) {
    const cudaStream_t own = workspace_.stream.get();
    order.wait_for(stream, own);
    for (const DevicePixels& image : call.images) order.wait_for(image.stream, own);
    order.wait_for(call.mask.stream, own);
    for (const DeviceFloats* map : {&call.depth, &call.normal, &call.confidence})
      order.wait_for(map->stream, own);
    try {
      queue(call);
    } catch (...) {
      end(stream);
      throw;
    }
    end(stream);
  }

  std::size_t bytes() const { return images_.capacity() + workspace_.arena.capacity(); }

  CallOrder order;

 private:
  static int longest_side(const SweepImages& images) {
    return std::max(images.reference.camera.width, images.reference.camera.height);
  }

  /// The stream of the caller goes on after what is queued.
  void end(cudaStream_t stream) {
    order.end(workspace_.stream.get());
    order.order_after(stream);
  }

  void queue(DeviceSweep& call) {
    images_.rewind(images_begin_);
    StagedImages staged(images_, &workspace_.stream);
    staged.import(call.images, call.problem);
    const SearchWork search{staged.halve_channel(), [this](const SweepProblem& sweep) {
                              return sweep_view(sweep, plan(sweep_shape(sweep)), workspace_);
                            }};
    call.choose_planes(search, call.problem);
    filter(call, queue_view(call.problem, plan(sweep_shape(call.problem)), workspace_, maps_->swept));
  }

  /// Within the memory there is if possible.
  SweepPlan plan(const SweepShape& shape) const {
    try {
      return plan_sweep(shape, workspace_.arena.capacity());
    } catch (const OutOfMemory&) {
      return plan_sweep(shape, limit_);
    }
  }

  /// Queues what recon::filter_estimate does and what follows it, and the copies to the caller's maps.
  void filter(const DeviceSweep& call, const DeviceEstimate& found) {
    const cudaStream_t stream = workspace_.stream.get();
    const PosedImage& reference = call.problem.reference;
    const ViewMaps maps{found.maps[0], found.maps[1], found.maps[2], found.pitch, found.width, found.height};
    const PhotometricFilterOptions& by = call.filter;
    TrustLimits limits{by.max_cost, by.min_confidence, by.min_texture, call.problem.cost.window, {},
                       0,           call.mask.data,    call.mask.pitch};
    for (std::size_t c = 0; c < static_cast<std::size_t>(reference.channels); ++c)
      limits.channel[c] = reference.channel[c].data;
    limits.channel_pitch = reference.channel[0].pitch;
    float *depth = maps_->depth[0], *other = maps_->depth[1];
    launch_trusted(maps, limits, depth, stream);
    if (by.median) {
      launch_median_3x3(depth, maps.width, maps.height, other, stream);
      std::swap(depth, other);
    }
    queue_remove_speckles(depth, maps.width, maps.height, by.speckle_size, kSpeckleStep, maps_->labels,
                          maps_->sizes, stream);
    launch_kept(maps, kept_depths(call.bounds), depth, maps_->confidence, stream);
    copy(depth, call.depth);
    if (call.confidence.data != nullptr) copy(maps_->confidence, call.confidence);
    if (call.normal.data == nullptr) return;
    launch_normals(depth, reference.camera, maps_->normal, stream);
    copy(&maps_->normal->x, call.normal);
  }

  void copy(const float* from, const DeviceFloats& to) {
    const int row = to.width * to.channels;
    copy_on_device(from, row, to.data, to.pitch / static_cast<std::ptrdiff_t>(sizeof(float)), row, to.height,
                   workspace_.stream);
  }

  const SweepShape shape_;
  std::size_t limit_ = 0;  ///< of the sweeps, bytes
  Arena images_;           ///< maps and images
  std::size_t images_begin_ = 0;
  std::optional<SweeperMaps> maps_;
  Workspace workspace_;
};

class ViewSweeper : public DeviceCalls<DeviceSweeper, SweeperWork> {
 public:
  ViewSweeper(const DeviceSweeping& sweeping, std::size_t memory_limit)
      : DeviceCalls(std::make_unique<SweeperWork>(sweeping, memory_limit), "the sweeper", "sweep()"),
        sweeping_(sweeping) {}

  void sweep(DeviceSweep call, void* stream) override {
    check_device_sweep(sweeping_, call);
    const CurrentDevice current(device_);
    for (std::size_t i = 0; i < call.images.size(); ++i) check(name_in_sweep(i), call.images[i].data);
    if (call.mask.data != nullptr) check("the mask of the reference", call.mask.data);
    check("depth", call.depth.data);
    if (call.normal.data != nullptr) check("normal", call.normal.data);
    if (call.confidence.data != nullptr) check("confidence", call.confidence.data);
    in_order([&](SweeperWork& work) { work.queue(call, static_cast<cudaStream_t>(stream)); });
  }

 private:
  const DeviceSweeping sweeping_;
};

}  // namespace

std::unique_ptr<DeviceSweeper> make_view_sweeper(const DeviceSweeping& sweeping, std::size_t memory_limit) {
  return std::make_unique<ViewSweeper>(sweeping, memory_limit);
}

}  // namespace recon::cuda

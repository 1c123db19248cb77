#include "fuse/fusion.hpp"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "core/interrupt.hpp"
#include "core/lru_cache.hpp"
#include "fuse/device_fusion.hpp"
#include "fuse/host_fusion.hpp"
#include "fuse/normal_noise.hpp"

namespace recon {

struct FusionByViews::State {
  State(const std::vector<FusionView>& views, FusionMapLoader& loader, const FusionOptions& options,
        PointSink& sink, DeviceFusion* device)
      : views_(views),
        loader_(loader),
        cache_(std::max<std::size_t>(options.max_cached_views, 2)),
        options_(options),
        device_(device),
        sink_(sink),
        host_(options),
        used_(views.size()),
        noise_(views.size()),
        done_after_(views.size()) {
    const int count = static_cast<int>(views.size());
    std::vector<int> last_user(views.size());
    for (int i = 0; i < count; ++i) {
      last_user[i] = std::max(last_user[i], i);
      for (const int j : views[i].neighbours) last_user[j] = std::max(last_user[j], i);
    }
    for (int i = 0; i < count; ++i) done_after_[last_user[i]].push_back(i);
  }

  /// Fuses the next view. Where a device does, its points may follow with the next call: while they are made
  /// and encoded, the device decides which pixels of the next view start points.
  /// @return the number of points that the sink has got since the last call
  std::uint64_t fuse_next() {
    const int i = next_++;
    if (ahead_.valid()) ahead_.get();
    if (std::optional<FusionJob> job = load_job(i)) {
      fuse(std::unique_ptr<View>(new View{i, std::move(*job), {}, {}}));
    } else {
      end_view();
      release(i);
    }
    if (next_ == std::ssize(views_)) end_view();
    return std::exchange(points_, 0);
  }

 private:
  /// A view until the sink has its points.
  struct View {
    int index;
    FusionJob job;
    FusionProgress progress;
    std::unique_ptr<FusionInProgress> on_device;  ///< null: the CPU fuses it
  };

  void fuse(std::unique_ptr<View> view) {
    begin(*view);
    if (!view->on_device && view_) {
      end_view();  // it may have needed the memory
      begin(*view);
    }
    const bool on_device = view->on_device != nullptr;
    if (on_device)
      release_maps(view->job);
    else
      load_missing(view->job);
    load_ahead(view->index, on_device);
    if (on_device) with_device([&] { view->on_device->mark(); });
    end_view();
    view_ = std::move(view);
    if (on_device && device_ != nullptr)
      begin_to_pass_on();
    else
      end_view();
  }

  /// Begins a view on the device if there is one with enough memory. Later on a lack of memory is one of the
  /// sink's.
  void begin(View& view) {
    if (device_ == nullptr) return;
    with_device([&] {
      try {
        view.on_device = device_->begin(view.job);
      } catch (const OutOfMemory& error) {
        throw DeviceError(error.what());
      }
    });
  }

  /// Passes the points of the view to the sink in a thread of its own. That thread has an arena of its own,
  /// with as many threads as this one's: in this arena it might find no place, which callers that wait for it
  /// have, or take the next view while one of its loops waits, which would wait for itself.
  void begin_to_pass_on() {
    const auto pass_on = [this, view = view_.get()] { view->on_device->pass_on(sink_, view->progress); };
    if (!passing_arena_) passing_arena_.emplace(oneapi::tbb::this_task_arena::max_concurrency());
    try {
      passing_ = std::async(std::launch::async, [this, pass_on] { passing_arena_->execute(pass_on); });
    } catch (const std::system_error&) {  // no thread can be created
      with_device(pass_on);
    }
  }

  /// Waits until the sink has the points of the view before, if there is one; the CPU makes those that its
  /// device has not.
  void end_view() {
    if (!view_) return;
    if (passing_.valid()) with_device([&] { passing_.get(); });
    if (view_->progress.rows < views_[view_->index].camera.height) {
      view_->on_device.reset();  // others may wait for its memory
      load_missing(view_->job);
      host_.fuse(view_->job, sink_, view_->progress);
    }
    points_ += view_->progress.points;
    used_[view_->index].release();
    release(view_->index);
    view_.reset();
  }

  /// Frees what no view after view `i` needs.
  void release(int i) {
    for (const int done : done_after_[i]) {
      cache_.erase(done);
      loader_.release(done);
    }
  }

  /// Does a step of the device. One that fails is not used again.
  template <class Step>
  void with_device(const Step& step) {
    try {
      step();
    } catch (const DeviceError& error) {
      if (std::exchange(device_, nullptr) != nullptr) loader_.device_failed(error);
    }
  }

  /// View `i` and its neighbours that have maps, which are loaded where the device lacks them; empty if the
  /// view has none.
  std::optional<FusionJob> load_job(int i) {
    std::optional<FusionInput> reference = load_input(i);
    if (!reference) return std::nullopt;
    FusionJob job{std::move(*reference), {}};
    used_[i].prepare(views_[i].camera.width, views_[i].camera.height);
    job.reference.used = &used_[i];
    for (const int j : views_[i].neighbours) {
      if (j == i) continue;
      std::optional<FusionInput> neighbour = load_input(j);
      if (!neighbour) continue;
      if (j > i) {
        used_[j].prepare(views_[j].camera.width, views_[j].camera.height);
        neighbour->used = &used_[j];
      }
      job.neighbours.push_back(std::move(*neighbour));
    }
    return job;
  }

  /// Empty if the view has no maps. They may leave the device later on, so that it is asked once.
  std::optional<FusionInput> load_input(int i) {
    if (device_has(i)) return FusionInput{i, &views_[i], nullptr, nullptr, noise_[i]};
    std::shared_ptr<const FusionMaps> maps = load(i);
    if (!maps) return std::nullopt;
    return FusionInput{i, &views_[i], std::move(maps), nullptr, noise_[i]};
  }
  bool device_has(int i) const { return device_ != nullptr && device_->has(i); }

  void load_missing(FusionJob& job) {
    const auto load_if_missing = [this](FusionInput& input) {
      if (input.maps) return;
      if (ahead_.valid()) ahead_.get();  // one thread loads at a time
      input.maps = load(input.index);
    };
    load_if_missing(job.reference);
    for (FusionInput& neighbour : job.neighbours) load_if_missing(neighbour);
  }

  /// Frees the maps that the device has copied.
  void release_maps(FusionJob& job) {
    const auto release = [this](FusionInput& input) {
      input.maps.reset();
      cache_.erase(input.index);
    };
    release(job.reference);
    for (FusionInput& neighbour : job.neighbours) release(neighbour);
  }

  /// Begins to load what the view after `i` needs, if it may and the cache holds that with what `i` needs.
  /// @param on_device  whether `i` needs nothing more
  void load_ahead(int i, bool on_device) {
    const int next = i + 1;
    if (!options_.reads_ahead || next == std::ssize(views_)) return;
    std::set<int> wanted = with_neighbours(next);
    std::erase_if(wanted, [this](int j) { return device_has(j); });
    std::set<int> held = wanted;
    if (!on_device) held.merge(with_neighbours(i));
    if (held.size() > options_.max_cached_views) return;
    try {
      ahead_ = std::async(std::launch::async, [this, wanted] {
        for (const int view : wanted) load(view);
      });
    } catch (const std::system_error&) {  // no thread can be created: the next view loads for itself
    }
  }

  std::set<int> with_neighbours(int i) const {
    std::set<int> views(views_[i].neighbours.begin(), views_[i].neighbours.end());
    views.insert(i);
    return views;
  }

  std::shared_ptr<const FusionMaps> load(int i) {
    const auto load = [&] {
      auto maps = loader_.load(i);
      if (maps) noise_[i] = normal_noise(maps->depth, maps->normal, maps->confidence);
      return maps;
    };
    return cache_.get(i, load, [](const FusionMaps&) { return std::size_t{1}; });
  }

  const std::vector<FusionView>& views_;
  FusionMapLoader& loader_;
  LruCache<int, FusionMaps> cache_;
  FusionOptions options_;
  DeviceFusion* device_;  ///< null: there is none, or it has failed
  PointSink& sink_;
  HostFusion host_;
  std::vector<UsedPixels> used_;
  std::vector<float> noise_;                  ///< of the normals of each view that has been loaded
  std::vector<std::vector<int>> done_after_;  ///< the views that no view after this one needs
  int next_ = 0;
  std::uint64_t points_ = 0;    ///< that the sink has got since the last call
  std::unique_ptr<View> view_;  ///< whose points the sink gets
  std::optional<oneapi::tbb::task_arena> passing_arena_;
  // The last members: they end before what they use.
  std::future<void> passing_;  ///< the points of that view; not valid: no thread does
  std::future<void> ahead_;    ///< the loading of what the next view needs
};

FusionByViews::FusionByViews(const std::vector<FusionView>& views, FusionMapLoader& loader,
                             const FusionOptions& options, PointSink& sink, DeviceFusion* device)
    : state_(new State(views, loader, options, sink, device)) {
  EXPECTS(options.spacing >= 1 && options.spacing <= 8);
}

FusionByViews::~FusionByViews() = default;

std::uint64_t FusionByViews::fuse_next() {
  check_interrupted();
  return state_->fuse_next();
}

std::uint64_t fuse(const std::vector<FusionView>& views, FusionMapLoader& loader,
                   const FusionOptions& options, PointSink& sink, DeviceFusion* device) {
  FusionByViews fusion(views, loader, options, sink, device);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < views.size(); ++i) count += fusion.fuse_next();
  return count;
}

std::size_t fusion_bytes(const FusionSize& size) {
  constexpr std::size_t kMappedShare = 8;   // of the pages of maps in files, one in this many is in memory
  constexpr std::size_t kPointBytes = 140;  // a point with its views, in rows that grow
  const auto spacing = static_cast<std::size_t>(size.spacing);
  const std::size_t pixels_a_point = spacing == 1 ? kFusionShares : spacing * spacing;
  const bool in_files = size.memory == FusionMemory::kFiles;
  const std::size_t maps = size.held_views * FusionMaps::kPixelBytes / (in_files ? kMappedShare : 1);
  const std::size_t marks = size.pixels * size.marked_views / 8;
  const std::size_t points = size.pixels * kPointBytes / pixels_a_point;
  // Maps are in memory when they are copied to a file.
  const std::size_t loading = size.loading + (in_files ? size.pixels * FusionMaps::kPixelBytes : 0);
  return size.pixels * maps + marks +
         (size.memory == FusionMemory::kReadAhead ? loading + points : std::max(loading, points));
}

std::size_t views_marked_at_once(const std::vector<std::vector<int>>& neighbours) {
  std::vector<bool> marked(neighbours.size());
  std::size_t count = 0, most = 0;
  const auto mark = [&](std::size_t view) {
    if (!marked[view]) ++count;
    marked[view] = true;
  };
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    mark(i);
    for (const int j : neighbours[i])
      if (static_cast<std::size_t>(j) > i) mark(static_cast<std::size_t>(j));
    most = std::max(most, count);
    if (i > 0) --count;  // the view before is given back while this one is decided
  }
  return most;
}

bool floats_suffice(const FusionView& view, double near, int spacing) {
  EXPECTS(near > 0 && spacing >= 1);
  constexpr double kRounding = 1.0 / (1 << 24);  // half a unit in the last place of a float, relative
  constexpr double kShareOfSpacing = 0.1;
  const Pose world_from_cam = inverse(view.cam_from_world);
  double largest = 0;
  for (const double x : {0.0, static_cast<double>(view.camera.width)})
    for (const double y : {0.0, static_cast<double>(view.camera.height)}) {
      const Vec3d corner = world_from_cam * (near * view.camera.ray({x, y}));
      largest = std::max({largest, std::abs(corner.x), std::abs(corner.y), std::abs(corner.z)});
    }
  const double distance = spacing * near / std::max(view.camera.fx, view.camera.fy);
  return kRounding * largest <= kShareOfSpacing * distance;
}

}  // namespace recon

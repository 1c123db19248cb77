#include "cuda/fuse/fusion_stream.hpp"

#include <algorithm>
#include <numeric>

#include "core/parallel.hpp"

namespace recon::cuda {

namespace {

/// Points that are copied at once take about this many bytes: enough for all threads to encode.
constexpr std::size_t kPointBytes = std::size_t{8} << 20;
/// Points that a thread encodes at once.
constexpr std::uint64_t kPointsPerTask = 2048;

std::size_t pixels_of(const Pinhole& camera) {
  return element_count({camera.width, camera.height});
}

std::size_t words_of(const Pinhole& camera) {
  return UsedPixels::words(camera.width, camera.height);
}

/// A view in device memory, without used pixels.
DeviceFusionView take_view(Arena& arena, const FusionInput& input) {
  const Pinhole& camera = input.view->camera;
  const std::size_t pixels = pixels_of(camera);
  return {camera,
          input.view->cam_from_world,
          inverse(input.view->cam_from_world),
          arena.take<float>(pixels),
          arena.take<Vec3f>(pixels),
          arena.take<float>(pixels),
          arena.take<Rgb8>(pixels),
          nullptr,
          static_cast<std::uint32_t>(input.index)};
}

/// Calls `visit` for the view of a job and its neighbours.
template <class Visit>
void for_inputs(const FusionJob& job, const Visit& visit) {
  visit(job.reference);
  for (const FusionInput& neighbour : job.neighbours) visit(neighbour);
}

/// The maps of a view have left the cache since the job was made.
struct Evicted {};

template <class T>
ImageView<const T> one_row(const std::vector<T>& values) {
  const int count = static_cast<int>(values.size());
  return {values.data(), count, 1, count};
}

}  // namespace

FusionStream::Work FusionStream::Work::take(Arena& arena, const Sizes& sizes) {
  return {arena.take<DeviceFusionView>(sizes.views),
          arena.take<int>(sizes.views),
          arena.take<std::uint32_t>(sizes.used_words),
          arena.take<std::uint16_t>(sizes.pixels),
          arena.take<RowCounts>(sizes.rows),
          arena.take<ListedPoint>(sizes.pixels),
          {arena.take<std::byte>(sizes.points), arena.take<std::byte>(sizes.points)}};
}

FusionStream::FusionStream(ImageCache& cache, const FusionMemoryKeys& keys, std::size_t index,
                           const std::vector<FusionView>& views, const FusionOptions& options)
    : cache_(cache), keys_(keys), index_(index), options_(options) {
  std::size_t widest = 0;
  for (const FusionView& view : views) {
    std::size_t words = words_of(view.camera);
    for (const int neighbour : view.neighbours)
      words += words_of(views[static_cast<std::size_t>(neighbour)].camera);
    sizes_.used_words = std::max(sizes_.used_words, words);
    sizes_.views = std::max(sizes_.views, view.neighbours.size() + 1);
    sizes_.pixels = std::max(sizes_.pixels, pixels_of(view.camera));
    sizes_.rows = std::max(sizes_.rows, static_cast<std::size_t>(view.camera.height));
    widest = std::max(widest, static_cast<std::size_t>(view.camera.width));
  }
  const std::size_t row = widest * (sizeof(FusedPoint) + sizes_.views * sizeof(std::uint32_t));
  sizes_.points = std::max(kPointBytes, row);
}

std::optional<DeviceFusionView> FusionStream::acquire(const FusionInput& input) {
  const auto take = [&](Arena& arena) { return take_view(arena, input); };
  return cache_.acquire_arrays(keys_.maps(input.index), device_->stream, uses_, take,
                               [&](const DeviceFusionView& view) {
                                 if (!input.maps) throw Evicted();
                                 const Pinhole& camera = view.camera;
                                 const auto upload = [&](const auto& image, auto* array) {
                                   EXPECTS(image.width == camera.width && image.height == camera.height);
                                   device_->staging.upload(image, array, camera.width, device_->stream);
                                 };
                                 upload(input.maps->depth, view.depth);
                                 upload(input.maps->normal, view.normal);
                                 upload(input.maps->confidence, view.confidence);
                                 upload(input.maps->colour, view.colour);
                                 if (input.maps->drop_pages) input.maps->drop_pages();
                               });
}

/// The memory of the job and the maps of its views; whether there is enough.
bool FusionStream::acquire_all(const FusionJob& job, std::size_t others) {
  const auto take_work = [&](Arena& arena) { return Work::take(arena, sizes_); };
  bytes_ = bytes_taken([&](Arena& arena) {
    take_work(arena);
    for_inputs(job, [&](const FusionInput& input) { take_view(arena, input); });
  });
  // Else maps that the others lack would be evicted in vain.
  if (bytes_ + others > cache_.budget()) return false;
  work_ = cache_.acquire_arrays(keys_.work(index_), device_->stream, uses_, take_work, [](const Work&) {});
  if (!work_) return false;
  views_.assign(job.neighbours.size() + 1, {});
  bool enough = true;
  // First those that are there, which the others could evict.
  for (const bool there : {true, false}) {
    auto view = views_.begin();
    for_inputs(job, [&](const FusionInput& input) {
      const auto place = view++;
      if (!enough || there != (input.maps == nullptr)) return;
      const std::optional<DeviceFusionView> acquired = acquire(input);
      enough = acquired.has_value();
      if (enough) *place = *acquired;
    });
  }
  return enough;
}

/// Copies the used pixels and the description of the job to the device.
void FusionStream::describe(const FusionJob& job) {
  std::uint32_t* used = work_->used;
  const auto upload_used = [&](const FusionInput& input, DeviceFusionView& view) {
    if (input.used == nullptr) return;
    const ImageView<const std::uint32_t> rows = input.used->rows();
    device_->staging.upload(rows, used, rows.pitch, device_->stream);
    view.used = used;
    used += words_of(view.camera);
  };
  upload_used(job.reference, views_.front());
  for (std::size_t i = 0; i < job.neighbours.size(); ++i) {
    const FusionInput& neighbour = job.neighbours[i];
    upload_used(neighbour, views_[i + 1]);
    views_[i + 1].min_cosine =
        min_cosine(options_.agreement, std::max(job.reference.normal_noise, neighbour.normal_noise));
  }
  std::vector<int> ascending(views_.size());
  std::iota(ascending.begin(), ascending.end(), 0);
  std::sort(ascending.begin(), ascending.end(), [this](int a, int b) {
    return views_[static_cast<std::size_t>(a)].index < views_[static_cast<std::size_t>(b)].index;
  });
  const auto count = static_cast<std::ptrdiff_t>(views_.size());
  device_->staging.upload(one_row(views_), work_->views, count, device_->stream);
  device_->staging.upload(one_row(ascending), work_->ascending, count, device_->stream);
  const Pinhole& camera = views_.front().camera;
  job_ = {work_->views,
          work_->ascending,
          static_cast<int>(count),
          camera.width,
          camera.height,
          options_,
          static_cast<double>(options_.agreement.max_relative_depth),
          options_.spacing,
          work_->view_counts,
          work_->rows,
          work_->list};
}

bool FusionStream::begin(const FusionJob& job, std::size_t others) {
  EXPECTS(fusion_job_ == nullptr);
  if (!device_) device_.emplace(sizes_.points);
  try {
    if (acquire_all(job, others)) {
      describe(job);
      launch_decisions(job_, device_->stream.get());
      fusion_job_ = &job;
      return true;
    }
  } catch (const Evicted&) {
  } catch (...) {
    cache_.release(uses_);  // sweeps may wait for the memory
    throw;
  }
  cache_.release(uses_);
  return false;
}

/// The sums of the rows, on the host and on the device.
void FusionStream::sum_rows() {
  std::vector<RowCounts> rows(static_cast<std::size_t>(job_.height));
  const ImageView<RowCounts> row{rows.data(), job_.height, 1, job_.height};
  device_->staging.download<RowCounts>(work_->rows, job_.height, row, device_->stream);
  sums_.assign(1, {0, 0});
  for (RowCounts& counts : rows) {
    const Sums before = sums_.back();
    sums_.push_back({before.points + counts.points, before.views + counts.views});
    counts = {static_cast<std::uint32_t>(before.points), static_cast<std::uint32_t>(before.views)};
  }
  device_->staging.upload(one_row(rows), work_->rows, job_.height, device_->stream);
}

std::size_t FusionStream::bytes_of(Portion portion) const {
  return (points_before(portion.end) - points_before(portion.begin)) * sizeof(FusedPoint) +
         (views_before(portion.end) - views_before(portion.begin)) * sizeof(std::uint32_t);
}

FusionStream::Portion FusionStream::next_portion(int begin) const {
  Portion portion{begin, std::min(begin + 1, job_.height)};
  while (portion.end < job_.height && bytes_of({begin, portion.end + 1}) <= sizes_.points) ++portion.end;
  return portion;
}

/// Computes points and copies them to the host.
void FusionStream::queue(Portion portion, int half) {
  const auto part = static_cast<std::size_t>(half);
  const std::uint64_t count = points_before(portion.end) - points_before(portion.begin);
  std::byte* points = work_->points[part];
  if (count > 0) {
    launch_points(
        job_, static_cast<std::uint32_t>(points_before(portion.begin)), static_cast<std::uint32_t>(count),
        static_cast<std::uint32_t>(views_before(portion.begin)), reinterpret_cast<FusedPoint*>(points),
        reinterpret_cast<std::uint32_t*>(points + count * sizeof(FusedPoint)), device_->stream.get());
    RECON_CUDA_TRY(cudaMemcpyAsync(device_->points.data() + part * sizes_.points, points, bytes_of(portion),
                                   cudaMemcpyDeviceToHost, device_->stream.get()));
  }
  device_->copied[part].record(device_->stream);
}

/// Waits for the points of a portion and passes them to the sink.
void FusionStream::pass_on(Portion portion, int half, PointSink& sink) {
  const auto part = static_cast<std::size_t>(half);
  device_->copied[part].synchronize();
  const std::uint64_t first_point = points_before(portion.begin), first_view = views_before(portion.begin);
  const std::uint64_t count = points_before(portion.end) - first_point;
  const std::byte* memory = device_->points.data() + part * sizes_.points;
  const auto* points = reinterpret_cast<const FusedPoint*>(memory);
  const auto* views = reinterpret_cast<const std::uint32_t*>(memory + count * sizeof(FusedPoint));
  const int rows = portion.end - portion.begin;
  const int tasks = std::clamp(static_cast<int>(count / kPointsPerTask), 1, rows);
  const auto row_of = [&](int task) {
    return portion.begin + static_cast<int>(std::int64_t{rows} * task / tasks);
  };
  sink.reserve(tasks);
  parallel_for_in_order(
      tasks, tasks,
      [&](int task, int slot) {
        const int begin = row_of(task), end = row_of(task + 1);
        sink.keep(slot,
                  {{points + (points_before(begin) - first_point), points_before(end) - points_before(begin)},
                   {views + (views_before(begin) - first_view), views_before(end) - views_before(begin)}});
      },
      [&](int, int slot) { sink.add(slot); });
}

void FusionStream::end() {
  fusion_job_ = nullptr;
  cache_.release(uses_);
}

void FusionStream::mark() {
  sum_rows();
  launch_point_list(job_, device_->stream.get());
  for (std::size_t i = 0; i < fusion_job_->neighbours.size(); ++i) {
    UsedPixels* const used = fusion_job_->neighbours[i].used;
    if (used == nullptr) continue;
    const ImageView<std::uint32_t> rows = used->rows();
    device_->staging.download<std::uint32_t>(views_[i + 1].used, rows.pitch, rows, device_->stream);
  }
}

void FusionStream::pass_on(PointSink& sink, FusionProgress& progress) {
  // Sweeps may wait for the memory, and the next view for these.
  const ImageCache::Release release(&cache_, uses_);
  Portion portion = next_portion(0);
  queue(portion, 0);
  for (int half = 0; portion.begin < portion.end; half ^= 1) {
    const Portion next = next_portion(portion.end);
    if (next.begin < next.end) queue(next, half ^ 1);
    pass_on(portion, half, sink);
    progress.points = points_before(portion.end);
    progress.rows = portion.end;
    portion = next;
  }
}

}  // namespace recon::cuda

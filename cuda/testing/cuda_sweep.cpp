#include "cuda/testing/cuda_sweep.hpp"

#include <cstring>
#include <limits>
#include <vector>

#include "cuda/methods/sweep/sweep_stream.hpp"
#include "cuda/testing/support.hpp"
#include "cuda/testing/sweep_kernels.hpp"
#include "methods/sweep/sweep_problem.hpp"

namespace recon::cuda {
namespace {

SweepPlan plan_of(const SweepProblem& problem, SweepVariant variant, std::size_t limit) {
  std::optional<SourceStorage> storage;
  if (variant == SweepVariant::kBytes) storage = SourceStorage::kBytes;
  return plan_sweep(sweep_shape(problem), limit, storage);
}

NaiveCamera naive_camera(const PosedImage& image) {
  const Pinhole& c = image.camera;
  const Pose world_from_cam = inverse(image.cam_from_world);
  const double cx = c.cx - 0.5, cy = c.cy - 0.5;
  NaiveCamera n{{c.fx, 0, cx, 0, c.fy, cy, 0, 0, 1},
                {1 / c.fx, 0, -cx / c.fx, 0, 1 / c.fy, -cy / c.fy, 0, 0, 1},
                {},
                {},
                {image.cam_from_world.translation.x, image.cam_from_world.translation.y,
                 image.cam_from_world.translation.z},
                {world_from_cam.translation.x, world_from_cam.translation.y, world_from_cam.translation.z},
                c.width,
                c.height};
  std::copy_n(image.cam_from_world.rotation.m, 9, n.r);
  std::copy_n(world_from_cam.rotation.m, 9, n.r_inverse);
  return n;
}

}  // namespace

Volume<Half> sweep_volume(const SweepProblem& problem, SweepVariant variant, int device) {
  use_device(device);
  const SweepPlan plan = plan_of(problem, variant, free_memory());
  const int width = problem.reference.camera.width, height = problem.reference.camera.height;
  const int planes = problem.planes.count;
  Volume<Half> volume(width, planes, height);
  SweepStream sweep;
  sweep.upload(problem, plan);
  for (int row_begin = 0; row_begin < height; row_begin += plan.rows) {
    const int rows = std::min(plan.rows, height - row_begin);
    sweep.queue_kernels(problem, plan, row_begin, [&](int plane_begin, int count) {
      for (int y = 0; y < rows; ++y) {
        const VolumeView<Half> view = volume.view();
        RECON_CUDA_TRY(cudaMemcpyAsync(view.row(row_begin + y, plane_begin),
                                       sweep.memory().volume + std::ptrdiff_t{y} * count * view.pitch,
                                       static_cast<std::size_t>(count * view.pitch) * sizeof(Half),
                                       cudaMemcpyDeviceToHost, sweep.stream().get()));
      }
      sweep.stream().synchronize();
    });
  }
  return volume;
}

LimitedSweep sweep_limited(const SweepProblem& problem, SweepVariant variant, std::size_t memory_limit,
                           int device) {
  use_device(device);
  const SweepPlan plan = plan_of(problem, variant, memory_limit);
  SweepStream sweep;
  LimitedSweep result;
  result.estimate = sweep.sweep(problem, plan);
  result.planned_bytes = plan.bytes;
  result.arena_bytes = sweep.arena_capacity();
  result.tiles = plan.tiles;
  return result;
}

CachedSweeps sweep_with_cache(const std::vector<SweepProblem>& problems, SweepVariant variant,
                              std::size_t budget, int device) {
  use_device(device);
  ImageCache cache;
  cache.set_budget(budget);
  SweepStream streams[2] = {SweepStream(1, &cache), SweepStream(1, &cache)};
  CachedSweeps result;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const SweepPlan plan = plan_of(problems[i], variant, std::size_t{1} << 30);
    result.estimates.push_back(streams[i % 2].sweep(problems[i], plan));
  }
  result.uploads = cache.uploads();
  return result;
}

SweepTimes time_sweep(const SweepProblem& problem, int repeats, int device) {
  EXPECTS(repeats >= 1);
  use_device(device);
  const SweepPlan plan = plan_sweep(sweep_shape(problem), free_memory() / 10 * 9);
  SweepStream sweep;
  SweepTimes times;
  times.device_bytes = plan.bytes;
  sweep.upload(problem, plan);
  times.kernels = time_events(sweep.stream(), repeats, [&] {
    for (int row = 0; row < problem.reference.camera.height; row += plan.rows)
      sweep.queue_kernels(problem, plan, row);
  });
  times.whole = time_whole(repeats, [&] { sweep.sweep(problem, plan); });
  return times;
}

NaiveSweep time_naive_sweep(const SweepProblem& problem, int repeats, int device) {
  EXPECTS(repeats >= 1 && problem.reference.channels == 1 && problem.cost.kind == CostKind::kSad);
  use_device(device);
  const int width = problem.reference.camera.width, height = problem.reference.camera.height;
  const int planes = problem.planes.count;
  const std::size_t pixels = element_count({width, height});
  const DeviceBuffer cube(pixels * static_cast<std::size_t>(planes) * sizeof(float));
  const DeviceBuffer winners(pixels * sizeof(std::uint16_t));
  auto* cost = reinterpret_cast<float*>(cube.data());
  auto* winner = reinterpret_cast<std::uint16_t*>(winners.data());
  const Stream stream;
  std::vector<DeviceBuffer> images, cameras;
  const auto put = [&](std::vector<DeviceBuffer>& list, const void* data, std::size_t bytes) {
    list.emplace_back(bytes);
    RECON_CUDA_TRY(cudaMemcpyAsync(list.back().data(), data, bytes, cudaMemcpyHostToDevice, stream.get()));
    stream.synchronize();
  };
  const auto put_image = [&](const PosedImage& image) {
    const NaiveCamera camera = naive_camera(image);
    put(cameras, &camera, sizeof camera);
    std::vector<std::uint8_t> rows(element_count({camera.width, camera.height}));
    for (int y = 0; y < camera.height; ++y)
      std::memcpy(&rows[static_cast<std::size_t>(y) * static_cast<std::size_t>(camera.width)],
                  image.channel[0].row(y), static_cast<std::size_t>(camera.width));
    put(images, rows.data(), rows.size());
  };
  put_image(problem.reference);
  for (const PosedImage& source : problem.sources) put_image(source);

  const auto camera = [&](std::size_t i) { return reinterpret_cast<const NaiveCamera*>(cameras[i].data()); };
  const auto image = [&](std::size_t i) { return reinterpret_cast<const std::uint8_t*>(images[i].data()); };
  NaiveSweep result;
  result.kernels = time_events(stream, repeats, [&] {
    launch_naive_clear(cost, pixels * static_cast<std::size_t>(planes), stream.get());
    for (std::size_t s = 1; s < images.size(); ++s)
      launch_naive_sweep(camera(0), camera(s), image(0), image(s), width, height, problem.planes,
                         problem.cost.window, cost, stream.get());
    launch_naive_winner(cost, width, height, planes, winner, stream.get());
  });
  std::vector<std::uint16_t> found(pixels);
  RECON_CUDA_TRY(cudaMemcpyAsync(found.data(), winner, pixels * sizeof(std::uint16_t), cudaMemcpyDeviceToHost,
                                 stream.get()));
  stream.synchronize();
  result.planes = Image<int>(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      result.planes(x, y) =
          found[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  return result;
}

std::size_t count_wrong_reciprocals(int device) {
  use_device(device);
  using Count = unsigned long long;
  Call call(arena_bytes(sizeof(Count)), 0);
  auto* wrong = reinterpret_cast<Count*>(call.take_bytes(sizeof(Count)));
  launch_reciprocals(wrong, call.stream());
  return call.download(wrong, 1, 1, 1)(0, 0);
}

}  // namespace recon::cuda

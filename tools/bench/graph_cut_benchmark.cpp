#include "tools/bench/graph_cut_benchmark.hpp"

#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <optional>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "io/colmap_model.hpp"
#include "io/image_file.hpp"
#include "match/cpu_sweep.hpp"
#include "match/source_warp.hpp"
#include "methods/sweep_tiles.hpp"
#include "optimize/graph_cut.hpp"
#include "optimize/path_winner.hpp"
#include "optimize/winner_take_all.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

struct Seconds {
  double wall, processor;
};

Seconds timed(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t clock = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC};
}

struct SweptScene {
  Image<std::uint8_t> guide;
  Volume<Half> costs;
  Image<std::uint16_t> winners;
};

SweptScene swept(const GraphCutBenchmark& benchmark) {
  const Scene scene = read_colmap_model(find_model(benchmark.scene));
  if (scene.views.size() < 2) throw InputError(benchmark.scene.string() + ": needs two views at least");
  std::vector<Image<std::uint8_t>> images;
  std::vector<PosedImage> views;
  for (const View& view : scene.views) {
    const std::optional<Pinhole> camera = as_pinhole(scene.cameras[static_cast<std::size_t>(view.camera)]);
    if (!camera) throw InputError(benchmark.scene.string() + ": the benchmark takes undistorted images");
    images.push_back(read_grey_image(benchmark.scene / "images" / view.name));
    PosedImage& image = views.emplace_back();
    image.camera = *camera;
    image.cam_from_world = view.cam_from_world;
    image.channel[0] = images.back().view();
  }
  const SweepOptions options{CostKind::kZncc, benchmark.window, Combination::kBestK, 2};
  const CpuSweep sweep =
      prepare_cpu_sweep(views.front(), {views.begin() + 1, views.end()},
                        make_plane_set(benchmark.near, benchmark.far, benchmark.planes), options);
  const int width = views.front().camera.width, height = views.front().camera.height;
  SweptScene result{{}, Volume<Half>(width, benchmark.planes, height), Image<std::uint16_t>(width, height)};
  sweep_by_tiles(sweep, [&](const Tile& tile, VolumeView<const Half> costs) {
    for (int y = 0; y < tile.height; ++y)
      for (int d = 0; d < benchmark.planes; ++d)
        std::memcpy(result.costs.view().row(tile.y + y, d) + tile.x, costs.row(y, d),
                    static_cast<std::size_t>(tile.width) * sizeof(Half));
  });
  parallel_for(height, [&](int y) {
    std::vector<Winner> winners(static_cast<std::size_t>(width));
    winner_take_all(result.costs.view(), y, winners.data());
    for (int x = 0; x < width; ++x) {
      const int plane = winners[static_cast<std::size_t>(x)].plane;
      result.winners(x, y) = plane < 0 ? kNoPlane : static_cast<std::uint16_t>(plane);
    }
  });
  result.guide = std::move(images.front());
  return result;
}

ordered_json run_cut(const SweptScene& scene, const GraphCutOptions& options, int threads) {
  Image<std::uint16_t> labels = scene.winners.clone();
  GraphCutResult result;
  const Seconds seconds =
      timed([&] { result = graph_cut(scene.costs.view(), scene.guide.view(), options, labels.view()); });
  return {{"seconds", seconds.wall},
          {"processor_seconds", seconds.processor},
          {"bytes", graph_cut_bytes(labels.width(), labels.height(), options, threads)},
          {"energy_before", result.energy_before},
          {"energy_after", result.energy_after},
          {"passes", result.passes},
          {"converged", result.converged},
          {"moves", result.moves},
          {"rises", result.rises}};
}

}  // namespace

ordered_json run_graph_cut_benchmark(const GraphCutBenchmark& benchmark) {
  ThreadLimit limit(benchmark.threads);
  return limit.run([&] {
    SweptScene scene;
    const Seconds sweep = timed([&] { scene = swept(benchmark); });
    ordered_json result{{"benchmark", "graphcut"},
                        {"scene", benchmark.scene.filename().string()},
                        {"width", scene.winners.width()},
                        {"height", scene.winners.height()},
                        {"planes", benchmark.planes},
                        {"threads", limit.threads()},
                        {"sweep_seconds", sweep.wall},
                        {"best", benchmark.cut.best},
                        {"reach", benchmark.cut.reach},
                        {"band_rows", benchmark.cut.band_rows},
                        {"cut", run_cut(scene, benchmark.cut, limit.threads())}};
    if (benchmark.plain) {
      GraphCutOptions all = benchmark.cut;
      all.best = all.band_rows = 0;
      all.passes = 1000;
      result["plain"] = run_cut(scene, all, limit.threads());
      result["energy_ratio"] =
          result["cut"]["energy_after"].get<double>() / result["plain"]["energy_after"].get<double>();
    }
    return result;
  });
}

}  // namespace recon

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "evaluate/statistics.hpp"
#include "io/image/image_file.hpp"
#include "match/cpu_sweep.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/semi_global/semi_global_step.hpp"
#include "optimize/winner/winner_take_all.hpp"
#include "reference/graph_cut_reference.hpp"
#include "tools/bench/benchmark_inputs.hpp"
#include "tools/bench/benchmarks.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

/// The graph cut over the volume of a plane sweep, one view of a scene against its other views, grey ZNCC,
/// mean of the best two views, lowered from its winners; one run, as it takes long. Where SCENE/gt_depth/ has
/// the exact depth of the view (16-bit PNG, thousandths of a scene unit, 0: unknown), also the shares of
/// wrong planes before and after, of pixels whose truth lies among the planes: more than one plane from the
/// true depth, or none.
struct GraphCutBenchmark : SweepPlanes {
  std::filesystem::path scene;
  int reference = 0;  ///< index of the view
  BenchmarkDevices devices{"cpu"};
  /// Texture is weak where the grey levels of the window deviate from their mean by less (root mean square).
  double weak_texture = 4.0;
  bool plain = false;  ///< also all labels in one graph of the whole image: minutes to hours
  GraphCutOptions cut{0.1f, 4};
};

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
  Volume<float> costs;
  Image<std::uint16_t> winners;
  Image<float> truth;  ///< fractional plane, NaN where unknown or not among the planes; empty: there is none
};

/// The exact depths of a view as positions among planes of even inverse depth, from far to near.
Image<float> true_planes(const std::filesystem::path& file, const GraphCutBenchmark& benchmark) {
  const Image<std::uint16_t> thousandths = read_png16(file);
  Image<float> planes(thousandths.width(), thousandths.height());
  const double farthest = 1 / benchmark.far, range = 1 / benchmark.near - farthest;
  for (int y = 0; y < planes.height(); ++y)
    for (int x = 0; x < planes.width(); ++x) {
      const double plane = (1000.0 / thousandths(x, y) - farthest) / range * (benchmark.planes - 1);
      const bool known = thousandths(x, y) > 0 && plane >= 0 && plane <= benchmark.planes - 1;
      planes(x, y) = known ? static_cast<float>(plane) : std::numeric_limits<float>::quiet_NaN();
    }
  return planes;
}

SweptScene swept(const GraphCutBenchmark& benchmark) {
  PosedViews scene = read_posed_views(benchmark.scene);
  const int reference = benchmark.reference;
  if (reference >= std::ssize(scene.views))
    throw InputError(benchmark.scene.string() + ": has no view " + std::to_string(reference) +
                     "; the first one is 0");
  std::vector<PosedImage>& views = scene.images;
  std::swap(views.front(), views[reference]);
  const CostOptions options{CostKind::kZncc, benchmark.window, Combination::kBestK, 2};
  const CpuSweep sweep =
      prepare_cpu_sweep(views.front(), {views.begin() + 1, views.end()},
                        make_plane_set(benchmark.near, benchmark.far, benchmark.planes), options);
  const int width = views.front().camera.width, height = views.front().camera.height;
  SweptScene result{
      {}, Volume<float>(width, benchmark.planes, height), Image<std::uint16_t>(width, height), {}};
  const std::filesystem::path depths =
      (benchmark.scene / "gt_depth" / scene.views[reference].name).replace_extension(".png");
  if (std::filesystem::exists(depths)) {
    result.truth = true_planes(depths, benchmark);
    if (result.truth.width() != width || result.truth.height() != height)
      throw InputError(depths.string() + ": is not of the size of its view");
  }
  sweep_by_tiles(sweep, [&](const Tile& tile, VolumeView<const Half> costs) {
    std::vector<Winner> winners(tile.width);
    for (int y = 0; y < tile.height; ++y) {
      for (int d = 0; d < benchmark.planes; ++d)
        std::transform(costs.row(y, d), costs.row(y, d) + tile.width,
                       result.costs.view().row(tile.y + y, d) + tile.x, to_float);
      winner_take_all(costs, y, winners.data());
      for (int x = 0; x < tile.width; ++x) {
        const int plane = winners[x].plane;
        result.winners(tile.x + x, tile.y + y) = plane < 0 ? kNoLabel : static_cast<std::uint16_t>(plane);
      }
    }
  });
  result.guide = std::move(scene.pixels[reference]);
  return result;
}

/// Where texture is weak: the deviation of the window's grey levels, as far as it lies in the image.
Image<std::uint8_t> weakly_textured(ImageView<const std::uint8_t> grey, const GraphCutBenchmark& benchmark) {
  Image<std::uint8_t> weak(grey.width, grey.height);
  const int reach = benchmark.window / 2;
  parallel_for(grey.height, [&](int y) {
    for (int x = 0; x < grey.width; ++x) {
      double count = 0, sum = 0, squares = 0;
      for (int j = std::max(y - reach, 0); j <= std::min(y + reach, grey.height - 1); ++j)
        for (int i = std::max(x - reach, 0); i <= std::min(x + reach, grey.width - 1); ++i) {
          const double level = grey(i, j);
          count += 1, sum += level, squares += level * level;
        }
      const double variance = squares / count - sum * sum / (count * count);
      weak(x, y) = variance < benchmark.weak_texture * benchmark.weak_texture;
    }
  });
  return weak;
}

/// Shares of pixels whose plane is wrong, by texture.
ordered_json wrong_planes(const SweptScene& scene, ImageView<const std::uint8_t> weak,
                          ImageView<const std::uint16_t> labels) {
  double known[2] = {}, wrong[2] = {};
  for (int y = 0; y < labels.height; ++y)
    for (int x = 0; x < labels.width; ++x) {
      const float truth = scene.truth(x, y);
      if (std::isnan(truth)) continue;
      known[weak(x, y)] += 1;
      const bool near = std::abs(static_cast<float>(labels(x, y)) - truth) <= 1.0f;
      wrong[weak(x, y)] += labels(x, y) == kNoLabel || !near ? 1 : 0;
    }
  return {{"weak_texture_pixels", known[1]},
          {"wrong_in_weak_texture", share(wrong[1], known[1])},
          {"wrong_elsewhere", share(wrong[0], known[0])}};
}

ordered_json run_cut(const SweptScene& scene, const reference::GridField& field,
                     const GraphCutOptions& options, int threads, Image<std::uint16_t>& labels) {
  labels = scene.winners.clone();
  const Seconds seconds =
      timed([&] { graph_cut(scene.costs.view(), scene.guide.view(), options, labels.view()); });
  return {{"seconds", seconds.wall},
          {"processor_seconds", seconds.processor},
          {"bytes",
           counted_bytes(threads,
                         [&] { graph_cut(scene.costs.view(), scene.guide.view(), options, labels.view()); })},
          {"energy_before", reference::energy_of(field, reference::labels_of(scene.winners.view()))},
          {"energy_after", reference::energy_of(field, reference::labels_of(labels.view()))}};
}

ordered_json run_graph_cut(const GraphCutBenchmark& benchmark) {
  ThreadLimit limit(benchmark.devices.threads);
  return limit.run([&] {
    SweptScene scene;
    const Seconds sweep = timed([&] { scene = swept(benchmark); });
    const reference::GridField field =
        reference::grid_field(scene.costs.view(), scene.guide.view(), benchmark.cut);
    Image<std::uint16_t> labels;
    ordered_json result{{"scene", benchmark.scene.filename().string()},
                        {"reference", benchmark.reference},
                        {"width", scene.winners.width()},
                        {"height", scene.winners.height()},
                        {"planes", benchmark.planes},
                        {"threads", limit.threads()},
                        {"sweep_seconds", sweep.wall},
                        {"best", benchmark.cut.best},
                        {"reach", benchmark.cut.reach},
                        {"band_rows", benchmark.cut.band_rows},
                        {"cut", run_cut(scene, field, benchmark.cut, limit.threads(), labels)}};
    if (!scene.truth.empty()) {
      const Image<std::uint8_t> weak = weakly_textured(scene.guide.view(), benchmark);
      result["weak_texture_below"] = benchmark.weak_texture;
      result["winners"] = wrong_planes(scene, weak.view(), scene.winners.view());
      result["cut"].update(wrong_planes(scene, weak.view(), labels.view()));
    }
    if (benchmark.plain) {
      GraphCutOptions all = benchmark.cut;
      all.best = all.band_rows = 0;
      all.passes = 1000;
      result["plain"] = run_cut(scene, field, all, limit.threads(), labels);
      result["energy_ratio"] =
          result["cut"]["energy_after"].get<double>() / result["plain"]["energy_after"].get<double>();
    }
    return result;
  });
}

}  // namespace

void add_graph_cut_benchmark(CLI::App& app, Benchmarks& benchmarks) {
  const auto [command, benchmark] =
      add_benchmark(app, benchmarks, "graphcut", "Graph cut over the volume of a plane sweep", run_graph_cut);
  command.add_option("SCENE", benchmark.scene, "Scene with undistorted views")->required();
  add_number(command, "--reference", benchmark.reference, "The view whose depth is estimated, from 0")
      ->check(CLI::NonNegativeNumber);
  benchmark.add_options(command);
  add_number(command, "--smoothness", benchmark.cut.smoothness, "Lambda");
  add_number(command, "--smoothness-cap", benchmark.cut.smoothness_cap, "K, planes");
  add_number(command, "--best", benchmark.cut.best, "Best planes of a pixel; 0: all");
  add_number(command, "--reach", benchmark.cut.reach, "Pixels whose planes are allowed too");
  add_number(command, "--band-rows", benchmark.cut.band_rows, "Rows of a band; 0: the whole image");
  add_number(command, "--passes", benchmark.cut.passes, "Passes over all planes, at most");
  add_number(command, "--weak-texture", benchmark.weak_texture,
             "Deviation of the window's grey levels below which texture is weak");
  add_threads(command, benchmark.devices);
  command.add_flag("--plain", benchmark.plain, "Also all planes in one graph of the whole image");
}

}  // namespace recon

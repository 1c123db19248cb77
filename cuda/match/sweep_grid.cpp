#include "cuda/match/sweep_grid.hpp"

#include <algorithm>

#include "cuda/match/sweep_args.hpp"

namespace recon::cuda {
namespace {

int divided_up(int a, int b) {
  return (a + b - 1) / b;
}

}  // namespace

bool can_fuse(const SweepOptions& options, int channels) {
  const bool best_two = options.combination == Combination::kMinimum ||
                        (options.combination == Combination::kBestK && options.best_k <= 2);
  return options.cost == CostKind::kSad && channels == 1 && best_two;
}

int tile_count(int width, int rows, const SweepOptions& options) {
  const int radius = options.window / 2;
  return divided_up(width, tile_width(radius)) * divided_up(rows, tile_height(options.cost, radius));
}

int planes_per_block(int tiles, int planes, int sources, int blocks_per_wave, int most_ranges) {
  // The start-up of a thread block costs about as much as two planes.
  constexpr double kStart = 2.0;
  const int fewest = divided_up(planes, std::min(planes, kMaxSteps / sources));
  int best = divided_up(planes, fewest);
  double min_time = 1e300;
  for (int ranges = fewest; ranges <= std::max(fewest, std::min(most_ranges, planes)); ++ranges) {
    const int each = divided_up(planes, ranges);
    const long long blocks = static_cast<long long>(tiles) * divided_up(planes, each);
    const double time =
        static_cast<double>((blocks + blocks_per_wave - 1) / blocks_per_wave) * (each + kStart);
    if (time >= 0.999 * min_time) continue;
    min_time = time;
    best = each;
  }
  return best;
}

}  // namespace recon::cuda

#pragma once

#include <cstddef>
#include <cstdint>

#include "core/unroll.hpp"
#include "match/patch_step.hpp"
#include "optimize/winner/winner_step.hpp"

/// The optimizer over slanted planes: propagation from neighbours on a checkerboard, random perturbation, and
/// the choice of the sources of each pixel. Decisions of a pixel depend on its neighbours of the other colour
/// only, so that all pixels of a colour can be done at once.
///
/// Sources: C. Barnes et al., PatchMatch, SIGGRAPH 2009; S. Galliani, K. Lasinger, K. Schindler, Massively
/// parallel multiview stereopsis by surface normal diffusion, ICCV 2015 (checkerboard); Q. Xu, W. Tao,
/// Multi-scale geometric consistency guided multi-view stereo, CVPR 2019 (regions of which the best neighbour
/// is taken; coarse to fine).

namespace recon {

/// The optimizer of slanted patches.
struct PatchMatchOptions {
  int levels = 1;      ///< the first planes are those of a sweep at 1 / 2^levels of the size
  int radius = 2;      ///< of the patch, 1..3
  int best_k = 2;      ///< sources per pixel, 1..kMaxPatchSources
  int iterations = 2;  ///< of propagation and perturbation at each level
};

constexpr int kMaxPatchSources = 4;

/// The plane of a pixel and its cost.
struct PatchState {
  SlantedPlane plane;
  float cost;
};

/// The sources of a pixel, best first, eight bits each; kNoSource after the last.
using PatchSources = std::uint32_t;
constexpr std::uint32_t kNoSource = 255;

RECON_HD std::uint32_t source_at(PatchSources sources, int rank) {
  return sources >> (8 * rank) & 255u;
}

/// The number of the sources of a pixel.
RECON_HD int source_count(PatchSources sources) {
  int count = 0;
  while (count < kMaxPatchSources && source_at(sources, count) != kNoSource) ++count;
  return count;
}

/// The cost of a source in which the patch is not visible.
constexpr float kInvisibleCost = 1.2f;
/// Above every cost.
constexpr float kNoPatchCost = 3.0f;

/// The depth of a slanted patch; unknown where no source sees it.
RECON_HD WinnerDepth patch_depth(const PatchState& state) {
  return {state.cost < kNoPatchCost ? 1.0f / state.plane.w : __builtin_nanf(""), state.cost,
          state.cost < 1.0f ? 1.0f - state.cost : 0.0f};
}

/// The mean cost of a plane over the sources of a pixel. It stops at the first partial cost that is not below
/// `bound`, and returns that.
/// @param cost  maps a source to the cost of the plane in it
template <class Cost>
RECON_HD float mean_cost(PatchSources sources, float bound, const Cost& cost) {
  const int count = source_count(sources);
  if (count == 0) return kNoPatchCost;
  const float scale = 1.0f / static_cast<float>(count);
  float sum = 0.0f;
  for (int k = 0; k < count; ++k) {
    sum += cost(source_at(sources, k));
    if (!(sum * scale < bound)) break;
  }
  return sum * scale;
}

/// Regions around a pixel in which the neighbour of lowest cost is looked for: of each of four directions
/// one near and one far.
constexpr int kRegions = 8;

/// The largest offset of a neighbour.
constexpr int kRegionReach = 23;

/// The offsets of the neighbours of a region; all have the other colour of the checkerboard.
template <class Visit>
RECON_HD void for_region(int region, const Visit& visit) {
  const int direction = region & 3;
  const int ax = direction == 0   ? 1
                 : direction == 1 ? -1
                                  : 0,
            ay = direction == 2   ? 1
                 : direction == 3 ? -1
                                  : 0;
  if (region < 4) {
    visit(ax, ay);
    visit(3 * ax, 3 * ay);
    visit(3 * ax + 2 * ay, 3 * ay + 2 * ax);
    visit(3 * ax - 2 * ay, 3 * ay - 2 * ax);
  } else {
    for (int d = 5; d <= kRegionReach; d += 2) visit(d * ax, d * ay);
  }
}

/// Bits that depend on all bits of `x`. Source: C. Wellons, hash-prospector (lowbias32).
RECON_HD std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  return x ^ x >> 16;
}

/// The next of a sequence of numbers in [-1, 1).
RECON_HD float next_random(std::uint32_t& seed) {
  seed = seed * 1664525u + 1013904223u;
  return static_cast<float>(seed >> 8) * (1.0f / 8388608.0f) - 1.0f;
}

constexpr int kPerturbations = 4;

/// A random plane near `plane`. The first perturbation moves it, the second turns it, the others do both by
/// less.
/// @param step   inverse depth that `amplitude` pixels of parallax are worth
/// @param reach  of the patch, pixels
RECON_HD SlantedPlane perturbed(const SlantedPlane& plane, int kind, float step, float reach,
                                std::uint32_t& seed) {
  const float move = kind == 0 ? 1.0f : kind == 1 ? 0.0f : kind == 2 ? 0.25f : 0.1f;
  const float turn = kind == 0 ? 0.0f : kind == 1 ? 1.0f : kind == 2 ? 0.3f : 0.1f;
  const float slope = step / reach;
  const float a = next_random(seed), b = next_random(seed), c = next_random(seed);
  return {plane.w + step * move * a, plane.wx + slope * turn * b, plane.wy + slope * turn * c};
}

/// The states of the pixels of a level.
struct PatchStates {
  PatchState* data;
  int width, height;
  std::ptrdiff_t pitch;  ///< states from one row to the next
  RECON_HD bool contains(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
  RECON_HD PatchState& at(int x, int y) const { return data[y * pitch + x]; }
};

/// The perturbation of the first iteration, pixels of parallax; half of it in the next one.
constexpr float kFirstAmplitude = 2.0f;

/// What an iteration has to know of a level, and the options of its arithmetic.
struct PatchIteration {
  InverseRange range;
  int radius;
  int index;  ///< from 0
  int best_k;
};

/// The first iteration.
RECON_HD PatchIteration patch_iteration(const InverseRange& range, const PatchMatchOptions& options) {
  return {range, options.radius, 0, options.best_k};
}

/// The inverse depth that the perturbation of an iteration is worth: by the source of a pixel in which it
/// moves fastest; 0 where it moves in none.
/// @param speed  maps a source to its parallax at the pixel
template <class Speed>
RECON_HD float perturbation_step(PatchSources sources, int iteration, const Speed& speed) {
  float fastest = 0.0f;
  for (int k = 0; k < kMaxPatchSources && source_at(sources, k) != kNoSource; ++k) {
    const float pixels = speed(source_at(sources, k));
    fastest = pixels > fastest ? pixels : fastest;
  }
  const float amplitude = kFirstAmplitude / static_cast<float>(1 << iteration);
  return fastest > 0.0f ? amplitude / fastest : 0.0f;
}

/// The plane of the neighbour at an offset, at pixel (x, y).
RECON_HD SlantedPlane neighbour_plane(const PatchStates& states, int x, int y, int dx, int dy) {
  const SlantedPlane& plane = states.at(x + dx, y + dy).plane;
  return {inverse_depth(plane, static_cast<float>(-dx), static_cast<float>(-dy)), plane.wx, plane.wy};
}

/// The plane of the neighbour of lowest cost in a region, at pixel (x, y); false where the region has none,
/// or the plane leaves the range there.
/// @param states  PatchStates, or what has its `contains` and `at`
template <class States>
RECON_HD bool region_plane(const States& states, int x, int y, const InverseRange& range, int region,
                           SlantedPlane& result) {
  float lowest = kNoPatchCost;
  int nx = 0, ny = 0;
  for_region(region, [&](int dx, int dy) {
    if (!states.contains(x + dx, y + dy)) return;
    const float cost = states.at(x + dx, y + dy).cost;
    if (cost < lowest) lowest = cost, nx = dx, ny = dy;
  });
  if (nx == 0 && ny == 0) return false;
  result = neighbour_plane(states, x, y, nx, ny);
  return contains(range, result.w);
}

/// The first of the random numbers of a pixel in an iteration.
RECON_HD std::uint32_t perturbation_seed(int x, int y, int iteration) {
  const std::uint32_t pixel = static_cast<std::uint32_t>(x) + 0x10001u * static_cast<std::uint32_t>(y);
  return mixed(mixed(pixel) + static_cast<std::uint32_t>(iteration));
}

/// One iteration at pixel (x, y): takes the plane of a neighbour or a perturbed plane where its cost is
/// lower.
/// @param step    see perturbation_step
/// @param region  region(i, plane): see region_plane
/// @param score   cost of a plane at the pixel; may stop at a bound, see mean_cost
template <class Region, class Score>
RECON_HD PatchState improved(const PatchState& own, int x, int y, const PatchIteration& iteration, float step,
                             const Region& region, const Score& score) {
  PatchState best = own;
  std::uint32_t seed = perturbation_seed(x, y, iteration.index);
  const int offers = step > 0.0f ? kRegions + kPerturbations : kRegions;
  RECON_ROLL
  for (int i = 0; i < offers; ++i) {
    SlantedPlane plane;
    if (i < kRegions) {
      if (!region(i, plane)) continue;
    } else {
      plane = perturbed(best.plane, i - kRegions, step, static_cast<float>(iteration.radius), seed);
      if (!contains(iteration.range, plane.w)) continue;
    }
    const float cost = score(plane, best.cost);
    if (cost < best.cost) best = {plane, cost};
  }
  return best;
}

/// The same with the neighbours of `states`, of which one is the own state.
template <class Score>
RECON_HD PatchState improved(const PatchStates& states, int x, int y, const PatchIteration& iteration,
                             float step, const Score& score) {
  const auto region = [&](int i, SlantedPlane& plane) {
    return region_plane(states, x, y, iteration.range, i, plane);
  };
  return improved(states.at(x, y), x, y, iteration, step, region, score);
}

/// The cost of a source as it is compared when sources are chosen: hundredths, or kUnseen.
constexpr std::uint8_t kUnseen = 255;
RECON_HD std::uint8_t rounded_cost(float cost) {
  return static_cast<std::uint8_t>(cost * 100.0f + 0.5f);
}

/// The cost of a source where it is not seen, in the sums around a pixel.
constexpr std::int32_t kCostCap = 120;

/// What a source costs at a pixel and around it: the own cost counts twice, others once; -1 where it sees no
/// plane there.
/// @param costs  costs(dx, dy): rounded cost of the own plane of the pixel at that offset; kUnseen outside
/// the image too
template <class Costs>
RECON_HD std::int32_t cost_around(const Costs& costs) {
  std::int32_t sum = 0;
  bool seen = false;
  for (int k = 0; k < 9; ++k) {
    const std::int32_t cost = costs(2 * (k % 3) - 2, 2 * (k / 3) - 2);
    seen = seen || cost != kUnseen;
    sum += (k == 4 ? 2 : 1) * (cost < kCostCap ? cost : kCostCap);
  }
  return seen ? sum : -1;
}

/// The sources of lowest cost: the best of them, and others if their mean cost exceeds that of the best by at
/// most 0.3. None if no source sees a plane here.
/// @param costs  costs(source): see cost_around
template <class Costs>
RECON_HD PatchSources lowest_sources(int sources, int best_k, const Costs& costs) {
  constexpr std::int32_t kWorse = 30, kVotes = 10;
  std::int32_t lowest[kMaxPatchSources];
  std::uint32_t chosen[kMaxPatchSources];
  int count = 0;
  for (int s = 0; s < sources; ++s) {
    const std::int32_t sum = costs(s);
    if (sum < 0) continue;
    int at = count < best_k ? count++ : best_k;
    for (; at > 0 && sum < lowest[at - 1]; --at)
      if (at < best_k) lowest[at] = lowest[at - 1], chosen[at] = chosen[at - 1];
    if (at < best_k) lowest[at] = sum, chosen[at] = static_cast<std::uint32_t>(s);
  }
  PatchSources result = 0xFFFFFFFFu;
  for (int k = 0; k < count; ++k) {
    if (k >= 1 && lowest[k] > lowest[0] + kWorse * kVotes) break;
    result = (result & ~(255u << (8 * k))) | chosen[k] << (8 * k);
  }
  return result;
}

/// The sources with the lowest costs at a pixel and around it.
/// @param costs  costs(source, dx, dy): see cost_around
template <class Costs>
RECON_HD PatchSources chosen_sources(int sources, int best_k, const Costs& costs) {
  return lowest_sources(sources, best_k, [&](int s) {
    return cost_around([&](int dx, int dy) { return std::int32_t{costs(s, dx, dy)}; });
  });
}

/// The change of inverse depth along one axis from the differences to both neighbours; of depth edges the
/// smooth side.
RECON_HD float smooth_slope(float before, float here, float after) {
  const float a = here - before, b = after - here;
  const float size_a = a < 0.0f ? -a : a, size_b = b < 0.0f ? -b : b;
  const float edge = 0.05f * here;
  if (!(size_a < edge)) return size_b < edge ? b : 0.0f;
  if (!(size_b < edge)) return a;
  const float bend = a < b ? b - a : a - b;
  if (bend < 0.02f * here) return 0.5f * (a + b);
  return size_a < size_b ? a : b;
}

/// The first plane of a pixel of the coarsest level. Unknown depths begin in the middle of the range.
/// @param depth  depth(dx, dy) of the neighbour, clamped to the image
template <class Depth>
RECON_HD SlantedPlane first_plane(const InverseRange& range, const Depth& depth) {
  const float w = 1.0f / depth(0, 0);
  if (!contains(range, w)) return {0.5f * (range.min + range.max), 0.0f, 0.0f};
  return {w, smooth_slope(1.0f / depth(-1, 0), w, 1.0f / depth(1, 0)),
          smooth_slope(1.0f / depth(0, -1), w, 1.0f / depth(0, 1))};
}

/// Pixels of the coarser level whose planes a pixel compares.
constexpr int kCoarserPlanes = 4;

/// The plane of one of the four nearest pixels of the coarser level.
/// @param coarse  states of the level of half the size
RECON_HD SlantedPlane coarser_plane(const PatchStates& coarse, int x, int y, const InverseRange& range,
                                    int k) {
  const int x0 = x / 2, y0 = y / 2, sx = (x & 1) != 0 ? 1 : -1, sy = (y & 1) != 0 ? 1 : -1;
  int cx = x0 + ((k & 1) != 0 ? sx : 0), cy = y0 + ((k & 2) != 0 ? sy : 0);
  cx = cx < 0 ? 0 : cx >= coarse.width ? coarse.width - 1 : cx;
  cy = cy < 0 ? 0 : cy >= coarse.height ? coarse.height - 1 : cy;
  const SlantedPlane& plane = coarse.at(cx, cy).plane;
  // The centre of the coarse pixel has index 2 cx + 0.5 in the finer level.
  const float dx = static_cast<float>(x - 2 * cx) - 0.5f, dy = static_cast<float>(y - 2 * cy) - 0.5f;
  SlantedPlane finer = {0.0f, 0.5f * plane.wx, 0.5f * plane.wy};
  finer.w = plane.w + (finer.wx * dx + finer.wy * dy);
  if (!contains(range, finer.w)) finer.w = finer.w < range.min ? range.min : range.max;
  return finer;
}

/// The best of the planes of the four nearest pixels of the coarser level.
template <class Score>
RECON_HD PatchState finer_state(const PatchStates& coarse, int x, int y, const InverseRange& range,
                                const Score& score) {
  PatchState best = {};
  for (int k = 0; k < kCoarserPlanes; ++k) {
    const SlantedPlane finer = coarser_plane(coarse, x, y, range, k);
    const float cost = score(finer, k == 0 ? kNoPatchCost : best.cost);
    if (k == 0 || cost < best.cost) best = {finer, cost};
  }
  return best;
}

}  // namespace recon

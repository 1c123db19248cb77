#pragma once

#include <cstdint>

#include "core/unroll.hpp"
#include "optimize/patch_match/patch_match_step.hpp"

/// Smooth surfaces of patches. On weak texture the planes that match best scatter around the surface,
/// as noise decides between them. Each pixel is offered the plane that the pixels around it agree on: of its
/// own plane and those of some neighbours the one that most of a window lie on, fitted to these by weighted
/// least squares. It takes that plane where the photos do not say clearly that its own is better, the less
/// clearly the less texture there is. Pixels beyond a depth edge lie off the plane and count nothing. Reads
/// states and writes others, so that all pixels can be done at once.
///
/// Sources: the most supported of some candidates: M. Fischler, R. Bolles, Random sample consensus, CACM
/// 1981; weights by likeness: C. Tomasi, R. Manduchi, Bilateral filtering for gray and color images, ICCV
/// 1998; planes where texture is weak: Q. Xu, W. Tao, Planar prior assisted PatchMatch multi-view stereo,
/// AAAI 2020.

namespace recon {

/// The window: (2 * 3 + 1)^2 cells, so many pixels apart.
constexpr int kAgreedRadius = 3, kAgreedStride = 4;
constexpr int kAgreedSide = 2 * kAgreedRadius + 1, kAgreedCells = kAgreedSide * kAgreedSide;
constexpr int kAgreedMargin = kAgreedRadius * kAgreedStride;  ///< pixels from the centre to the last cell
constexpr float kAgreedReach = 0.3f;  ///< how far from a plane a cell supports it, pixels of parallax
constexpr float kAgreedGrey = 8.0f;   ///< grey levels of difference at which a cell counts half
constexpr float kMinCertainty = 0.05f;
/// Slopes are fitted where the product of the spreads of the supporting cells exceeds this, cells^4.
constexpr float kMinAgreedSpread = 0.05f;

/// The candidates: the planes of the cells at these offsets, the own first.
constexpr int kAgreedCandidates = 9;
RECON_HD int candidate_column(int candidate) {
  constexpr int kColumns[kAgreedCandidates] = {0, -1, 1, -1, 1, -2, 2, 0, 0};
  return kColumns[candidate];
}
RECON_HD int candidate_row(int candidate) {
  constexpr int kRows[kAgreedCandidates] = {0, -1, -1, 1, 1, 0, 0, -2, 2};
  return kRows[candidate];
}

/// What a pixel is as a cell of the windows around it.
struct AgreedCell {
  float w, certainty, grey;  ///< outside the image all are 0
};

RECON_HD AgreedCell agreed_cell(const PatchState& state, int grey) {
  const float certainty = 1.0f - state.cost;
  return {state.plane.w, certainty > kMinCertainty ? certainty : kMinCertainty, static_cast<float>(grey)};
}

/// How much a cell counts: by its cost and by the difference of its grey level to that of the centre.
RECON_HD float cell_weight(float certainty, float difference) {
  const float relative = difference * (1.0f / kAgreedGrey);
  return certainty / (1.0f + relative * relative);
}

/// The inverse depths of the cells around a pixel, row by row, in units of the reach, and their weights; 0
/// outside the image.
struct AgreedWindow {
  float w[kAgreedCells], weight[kAgreedCells];
};

/// @param scale  units of the reach per inverse depth
/// @param cell   cell(i, j): the cell at that offset, in cells
template <class Cell>
RECON_HD AgreedWindow agreed_window(float scale, const Cell& cell) {
  AgreedWindow window;
  const float centre = cell(0, 0).grey;
  RECON_UNROLL
  for (int k = 0; k < kAgreedCells; ++k) {
    const AgreedCell other = cell(k % kAgreedSide - kAgreedRadius, k / kAgreedSide - kAgreedRadius);
    window.w[k] = other.w * scale;
    window.weight[k] = cell_weight(other.certainty, other.grey - centre);
  }
  return window;
}

/// A plane over the window in units of the reach, slopes per cell.
struct WindowPlane {
  float w, across, down;
  /// How far cell k lies from it.
  RECON_HD float distance(const AgreedWindow& window, int k) const {
    const float row = w + down * static_cast<float>(k / kAgreedSide - kAgreedRadius);
    return window.w[k] - (row + across * static_cast<float>(k % kAgreedSide - kAgreedRadius));
  }
};

/// How much of the window lies on a plane.
RECON_HD float plane_support(const AgreedWindow& window, const WindowPlane& plane) {
  float sum = 0.0f;
  RECON_UNROLL
  for (int k = 0; k < kAgreedCells; ++k) {
    const float distance = plane.distance(window, k), share = 1.0f - distance * distance;
    sum += window.weight[k] * (share > 0.0f ? share : 0.0f);
  }
  return sum;
}

/// The plane of weighted least squares through the cells that lie on a plane, of which there is one at least.
RECON_HD WindowPlane fitted_plane(const AgreedWindow& window, const WindowPlane& plane) {
  float n = 0, u = 0, v = 0, uu = 0, uv = 0, vv = 0, d = 0, ud = 0, vd = 0;
  RECON_UNROLL
  for (int k = 0; k < kAgreedCells; ++k) {
    const float column = static_cast<float>(k % kAgreedSide - kAgreedRadius),
                row = static_cast<float>(k / kAgreedSide - kAgreedRadius);
    const float distance = plane.distance(window, k), share = 1.0f - distance * distance;
    const float inside = share > 0.0f ? share : 0.0f, weight = window.weight[k] * (inside * inside);
    const float column_weight = weight * column, row_weight = weight * row;
    n += weight, u += column_weight, v += row_weight;
    uu += column_weight * column, uv += column_weight * row, vv += row_weight * row;
    d += weight * distance, ud += column_weight * distance, vd += row_weight * distance;
  }
  const float inverse = 1.0f / n;
  const float mean_u = u * inverse, mean_v = v * inverse;
  uu = uu - u * mean_u, uv = uv - u * mean_v, vv = vv - v * mean_v;
  ud = ud - d * mean_u, vd = vd - d * mean_v;
  const float determinant = uu * vv - uv * uv;
  const bool slanted = determinant > kMinAgreedSpread * (n * n);
  const float across = slanted ? (ud * vv - vd * uv) / determinant : 0.0f,
              down = slanted ? (vd * uu - ud * uv) / determinant : 0.0f;
  return {plane.w + ((d - across * u) - down * v) * inverse, plane.across + across, plane.down + down};
}

/// The plane that the pixels around (x, y) agree on; its inverse depth is NaN where there is none within the
/// range.
/// @param unit  inverse depth of a pixel of parallax, see perturbation_step; 0 where nothing moves
/// @param cell  see agreed_window
template <class Cell>
RECON_HD SlantedPlane agreed_plane_of_cells(const PatchStates& states, int x, int y,
                                            const InverseRange& range, float unit, const Cell& cell) {
  const SlantedPlane none{__builtin_nanf(""), 0.0f, 0.0f};
  if (!(unit > 0.0f) || !(states.at(x, y).cost < kNoPatchCost)) return none;
  const float size = unit * kAgreedReach, scale = 1.0f / size;
  const AgreedWindow window = agreed_window(scale, cell);
  WindowPlane best{};
  float most = 0.0f;
  RECON_ROLL
  for (int c = 0; c < kAgreedCandidates; ++c) {
    const int dx = candidate_column(c) * kAgreedStride, dy = candidate_row(c) * kAgreedStride;
    if (!states.contains(x + dx, y + dy)) continue;
    const SlantedPlane& plane = states.at(x + dx, y + dy).plane;
    const float w = inverse_depth(plane, static_cast<float>(-dx), static_cast<float>(-dy));
    if (!contains(range, w)) continue;
    const float slope = scale * static_cast<float>(kAgreedStride);
    const WindowPlane candidate{w * scale, plane.wx * slope, plane.wy * slope};
    const float support = plane_support(window, candidate);
    if (support > most) most = support, best = candidate;
  }
  if (!(most > 0.0f)) return none;
  const WindowPlane fit = fitted_plane(window, best);
  const float slope = size * (1.0f / static_cast<float>(kAgreedStride));
  const SlantedPlane plane{fit.w * size, fit.across * slope, fit.down * slope};
  return contains(range, plane.w) ? plane : none;
}

/// The same. @param grey  grey(x, y) of the reference, 0..255
template <class Grey>
RECON_HD SlantedPlane agreed_plane(const PatchStates& states, int x, int y, const InverseRange& range,
                                   float unit, const Grey& grey) {
  return agreed_plane_of_cells(states, x, y, range, unit, [&](int i, int j) {
    const int column = x + i * kAgreedStride, row = y + j * kAgreedStride;
    return states.contains(column, row) ? agreed_cell(states.at(column, row), grey(column, row))
                                        : AgreedCell{0.0f, 0.0f, 0.0f};
  });
}

/// The cost below which a pixel takes the plane of its surroundings: above its own by more where the patch
/// has little texture.
/// @param sums  of the patch, whose variance is in grey levels squared
RECON_HD float max_smooth_cost(float cost, const ReferenceSums& sums) {
  constexpr float kWorse = 1.2f, kSlack = 0.02f, kNoise = 2.0f, kMaxNoise = 0.3f;
  const float variance = patch_variance(sums);
  const float noise = variance * kMaxNoise > kNoise ? kNoise / variance : kMaxNoise;
  return cost * kWorse + (kSlack + noise);
}

/// The state of a pixel that is offered a plane, see agreed_plane.
/// @param score  cost of a plane at the pixel; may stop at a bound, see mean_cost
template <class Score>
RECON_HD PatchState smoothed_state(const PatchState& own, const SlantedPlane& plane,
                                   const ReferenceSums& sums, const Score& score) {
  if (!(plane.w == plane.w)) return own;
  const float bound = max_smooth_cost(own.cost, sums);
  const float cost = score(plane, bound);
  return cost < bound ? PatchState{plane, cost} : own;
}

/// The unit of agreed_plane. @param speed  see perturbation_step
template <class Speed>
RECON_HD float smooth_unit(PatchSources sources, const Speed& speed) {
  constexpr int kSecondIteration = 1;  // that moves by one pixel
  static_assert(kFirstAmplitude == 2.0f);
  return perturbation_step(sources, kSecondIteration, speed);
}

}  // namespace recon

#pragma once

#include <array>

#include "core/image.hpp"
#include "core/volume.hpp"
#include "match/ad_census_step.hpp"
#include "match/pair_side.hpp"

namespace recon {

/// A rectified colour pair; both images have the same size.
struct ColourPair {
  ImageView<const Rgb8> left, right;
};

/// Lookup tables of a pixel's cost: by_bits[Hamming distance] + by_sum[channel sum], or by_sum alone. All
/// implementations that use these tables give bit-identical costs.
struct CostTables {
  std::array<float, kMaxChannelSum + 1> by_sum{};
  std::array<float, kMaxAdCensusBits + 1> by_bits{};
};

/// The tables of colour_difference_costs and of ad_census_costs. @throws std::logic_error where an option is
/// out of range
CostTables colour_difference_tables(float cap);
CostTables ad_census_tables(const AdCensusOptions& options);

/// Computes the cost volume (y, d, x) of one view of a pair, row by row: plane d is the disparity
/// `min_disparity` + d; column x of the left view matches column x - min_disparity - d of the right view.
/// Matches outside the other view use its border column, which favours no plane: the maximum cost would bias
/// whole windows along the border towards small disparities (with cross-based means, 0.6 to 1.6 points more
/// wrong non-occluded pixels on teddy, cones and venus). The volume of the right view is computed separately,
/// so each of its pixels has a cost too. Deterministic for any number of threads.

/// C_AD(p, d) = min(mean over R, G, B of |difference|, cap), the colour difference of X. Mei et al. 2011,
/// equation 1; equals mean_difference.
/// @param cap    grey levels, > 0; 255: no truncation
/// @param side   the view that the costs belong to
/// @param costs  of the pair's width and height, any number of planes; every cost is overwritten
/// @throws std::logic_error when sizes differ or an option is out of range; OutOfMemory
void colour_difference_costs(const ColourPair& pair, PairSide side, int min_disparity, float cap,
                             VolumeView<float> costs);

/// The AD-Census costs of a pair, 0 .. 2; see saturated. The census is that of grey_of over 9 x 7
/// pixels, the border repeated. Source: X. Mei et al. 2011, section 2.1.
/// @param side   the view that the costs belong to
/// @param costs  of the pair's width and height, any number of planes; every cost is overwritten
/// @throws std::logic_error when sizes differ or a lambda is not > 0; OutOfMemory
void ad_census_costs(const ColourPair& pair, PairSide side, int min_disparity, const AdCensusOptions& options,
                     VolumeView<float> costs);

}  // namespace recon

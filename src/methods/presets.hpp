#pragma once

#include "methods/method_spec.hpp"

/// The methods that have a name, as values.

namespace recon::presets {

/// [ZNCC | none | semi-global | none]: `--method planesweep`, which patches are added to by default.
MethodSpec plane_sweep();

/// [5 x 5 census | none | semi-global | uniqueness, left-right check, sub-pixel, median, smooth], fused.
MethodSpec semi_global();

/// [difference | constant window | winner] and [truncated difference | none | belief propagation], fused,
/// with the defaults of BlockMatchingOptions and BeliefOptions.
MethodSpec block_matching();
MethodSpec belief_propagation();

/// [5 x 5 census | none | semi-global | none], stage by stage, with the penalties of SemiGlobalOptions.
MethodSpec plain_pipeline();

/// `--method pipeline` where no stage is named: [5 x 5 census | none | semi-global | left-right check,
/// sub-pixel, median]. What no option names is as in the system of AD-Census, so that naming its stages makes
/// the same pipeline.
MethodSpec pipeline();

/// The AD-Census stereo system: AD-Census costs of both views, cross-based aggregation on the
/// intersection of the arms of both views, scanline optimisation, the winners of both views (lowest disparity
/// on ties), then left-right check, region voting, interpolation, discontinuity adjustment, sub-pixel
/// enhancement and a 3 x 3 median. The parameters are those of Mei et al. 2011, table 1, except for two
/// aggregation iterations instead of four: larger supports remove detail, and the scanline optimisation makes
/// them unnecessary (0.14 points of the mean error of Middlebury's four pairs). Differences from the paper,
/// explained at each step: small surfaces are invalidated and others extended into the strip outside the
/// right view (invalidate_small_segments, extend_surfaces), voting and interpolation are checked against the
/// right map (contradicted), and sub-pixel shifts are multiples of 1/16 pixel (enhance_subpixel). With the
/// paper's steps only, the mean error of Middlebury's four pairs, three figures each, is 5.27 % instead of
/// 4.44 %; the paper reports 3.97 %. Every pixel gets a disparity, unless no pixel of the image is reliable
/// or has a winner. Source: X. Mei, X. Sun, M. Zhou, S. Jiao, H. Wang and X. Zhang, On building an accurate
/// stereo matching system on graphics hardware, ICCV workshops 2011.
MethodSpec ad_census();

/// Sets the penalties of all optimizers of a pipeline to the defaults for its cost.
void set_default_penalties(MethodSpec& pipeline);

/// `--preset ad-census`: the system with these penalties.
MethodSpec named_ad_census();

}  // namespace recon::presets

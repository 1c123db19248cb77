#pragma once

#include <cstddef>
#include <string>

#include "aggregate/adaptive_weight_step.hpp"
#include "core/image.hpp"
#include "core/volume.hpp"
#include "match/cross_arms_step.hpp"
#include "match/pair_side.hpp"

namespace recon {

/// The images that determine the support of a volume's pixels: T is a colour, or a cross computed from
/// colours. Pixel (x, y) of the volume on plane d matches pixel (matching_column(side, x, min_disparity + d),
/// y) of the source. Without a source, as for a sweep, or where the match lies outside it, only the reference
/// view is used.
template <class T>
struct SupportViews {
  ImageView<const T> reference;  ///< of the volume's width and height
  ImageView<const T> source;     ///< of the same size; empty if none
  PairSide side = PairSide::kLeft;
  int min_disparity = 0;

  bool fits(int width, int height) const {
    const bool same = source.width == width && source.height == height;
    return reference.width == width && reference.height == height && (source.empty() || same) &&
           min_disparity >= -(1 << 24) && min_disparity <= 1 << 24;
  }
};

/// Cost aggregation follows one formula, whatever the aggregator:
///   C_A(p, d) = sum over q in S(p, d) of w(p, q, d) C(q, d)  /  sum over q in S(p, d) of w(p, q, d)
/// with supports S and weights w of the aggregator; planes are independent. Source: J. Fang, A. L.
/// Varbanescu, J. Shen, H. Sips, G. Saygili and L. van der Maaten, "Accelerating cost aggregation for
/// real-time stereo matching", ICPADS 2012, section II. A sample of infinite cost, such as one that no source
/// of a sweep sees, is excluded from all supports; C_A is infinite where a support is empty.

inline constexpr int kMaxConstantRadius = 1 << 20;

/// Constant window (CW): S(p) is the square of side 2 `radius` + 1 around p, w = 1. The window is clipped at
/// the image border. Running sums of costs in units of cost_unit(max_cost), which are exact; the time is
/// independent of the radius. Deterministic for any number of threads.
/// @param costs       (y, d, x), 0 .. `max_cost`, or +infinity
/// @param radius      pixels, 0 .. kMaxConstantRadius; may exceed the image size
/// @param max_cost    upper bound of the finite costs; see cost_unit
/// @param aggregated  of the same shape, not overlapping `costs`
/// @throws std::logic_error where shapes differ or the radius or the maximum cost is out of range;
///         OutOfMemory
void constant_window(VolumeView<const float> costs, int radius, float max_cost, VolumeView<float> aggregated);

/// Adaptive weight (AW): S(p) is the square of side 2 radius + 1 around p, clipped to the image, and
///   w(p, q) = exp(-(Dc(p, q) / gamma_c + Dg(p, q) / gamma_s))
///   w(p, q, d) = w(p, q) w(p', q')
/// with Dc the Euclidean distance in CIELab, Dg that in the image, p', q' the matches of p and q on plane d
/// in the source view. A pixel whose match lies outside the source is excluded, unless the match of p lies
/// outside too: then the weight is w(p, q). The full window is summed without approximation: the time grows
/// with the square of the radius. Deterministic for any number of threads; between processors weights differ
/// in the last bits. Source: K.-J. Yoon and I. S. Kweon, "Adaptive support-weight approach for correspondence
/// search", TPAMI 2006, equations 6 and 7.
/// @param costs       (y, d, x), finite or +infinity (no cost)
/// @param aggregated  of the same shape, not overlapping `costs`
/// @throws std::logic_error where sizes differ or an option is out of range; OutOfMemory
void adaptive_weight(const SupportViews<Rgb8>& views, const AdaptiveWeightOptions& options,
                     VolumeView<const float> costs, VolumeView<float> aggregated);

/// Order of the two summations: a cross-based support is the union of the horizontal arms of the pixels on
/// p's vertical arms, as in the first of alternating iterations, or vice versa.
enum class CrossOrder {
  kHorizontal,  ///< sums along rows, then along columns
  kVertical,
};

struct CrossBasedOptions {
  int iterations = 4;  ///< number of aggregation iterations, 0 .. 64; the order alternates
};

/// Cross-based aggregation (CROSS), in place: S(p, d) is the union of the arms in one direction of all pixels
/// on p's arms in the other direction, w = 1. The arms on plane d are the shorter of those of the reference
/// pixel and of its match. Each iteration averages the result of the previous one over the supports, by two
/// passes of prefix sums of costs in units of cost_unit(max_cost), which are exact. Deterministic for any
/// number of threads. Sources: K. Zhang, J. Lu and G. Lafruit 2009, section III; X. Mei et al. 2011, section
/// 2.2 (iterations of alternating order).
/// @param views  crosses of both views, or of the reference view only, which was better with AD-Census costs
///               on Middlebury's pairs; see cross_arms
/// @param max_cost  upper bound of the finite costs; see cost_unit
/// @param costs     (y, d, x), 0 .. `max_cost`, or +infinity (no cost): each iteration assigns such a sample
///                  the mean of its support, so gaps shrink
/// @throws std::logic_error where sizes differ or an option or the maximum cost is out of range; OutOfMemory
void cross_based(const SupportViews<Cross>& views, const CrossBasedOptions& options, float max_cost,
                 VolumeView<float> costs);

/// More elements than the padding of a row, where memory is counted.
inline constexpr std::ptrdiff_t kPaddedRow = 64;

/// Aggregation of the costs around each pixel.
enum class Aggregation {
  kNone,
  kConstantWindow,
  kAdaptiveWeight,
  kCrossBased,
};

struct AggregationOptions {
  Aggregation kind = Aggregation::kNone;
  int constant_radius = 4;  ///< of windows but those of adaptive weights, pixels
  AdaptiveWeightOptions adaptive_weight;
  CrossOptions cross;  ///< of the arms, for the caller that computes them
  CrossBasedOptions cross_based;
};

/// Aggregates costs by the method in the options; see constant_window, adaptive_weight, cross_based.
/// @param costs    (y, d, x), finite or +infinity (no cost); returned unchanged with kNone
/// @param colours  for aggregations that compare them, otherwise ignored
/// @param arms     for aggregations that follow them, otherwise ignored
/// @param max_cost upper bound of the finite costs; for kConstantWindow and kCrossBased, see cost_unit
/// @throws std::logic_error where sizes differ or an option is out of range; OutOfMemory
Volume<float> aggregated(Volume<float> costs, const SupportViews<Rgb8>& colours,
                         const SupportViews<Cross>& arms, const AggregationOptions& options, float max_cost);

/// What determines the time of an aggregation, see predict/stage_work.hpp: its name with what has costs of
/// its own, the radius of its window, and the counts of its work.
struct AggregationWork {
  std::string name = "none";
  int radius = 0;
  double pixels = 0, operations = 0, bytes = 0;
};

/// What the supports of an aggregation depend on, beside the position.
enum class SupportGuide { kNone, kColours, kArms };

/// An aggregation: all that the stages, the options and the prediction of times know of it.
struct Aggregator {
  Aggregation kind;
  const char* keyword;
  const char* meaning;  ///< for people
  bool has_window;      ///< a square window, whose side is an option
  SupportGuide guide;
  /// See `aggregated`.
  Volume<float> (*run)(Volume<float> costs, const SupportViews<Rgb8>& colours,
                       const SupportViews<Cross>& arms, const AggregationOptions& options, float max_cost);
  /// @param threads  of the CPU; 0: a GPU
  AggregationWork (*work)(int width, int height, int planes, const AggregationOptions& options, int threads);
};

/// In the order of Aggregation.
extern const Aggregator kAggregators[4];

inline const Aggregator& aggregator_of(const AggregationOptions& options) {
  return kAggregators[static_cast<int>(options.kind)];
}

}  // namespace recon

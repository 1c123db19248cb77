#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "aggregate/aggregation.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aggregate/adaptive_weight.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#ifndef RECON_AGGREGATE_WEIGHT_ROWS_
#define RECON_AGGREGATE_WEIGHT_ROWS_
namespace recon {

/// Three floats per pixel, one row per channel.
struct LabRow {
  const float* l;
  const float* a;
  const float* b;
};

/// Inputs of one window row for one plane of an image row.
struct WindowRow {
  const float* weights;         ///< of the reference; the weights of offset i start at (i + radius) * pitch
  const float* source_weights;  ///< of the source, at the match of the first pixel
  std::ptrdiff_t pitch, source_pitch;
  const float* costs;   ///< from the pixel below or above the first one; `radius` more on each side
  const float* finite;  ///< same layout: 0 where there is no cost, otherwise 1; null if there are no gaps
  int radius, width;
};

}  // namespace recon
#endif

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// weights[x] = exp(-(|p - q| scale + space)) of the colours p, q at x. May write up to one vector beyond
/// `count`.
void weights_of_row(LabRow p, LabRow q, float scale, float space, int count, float* weights) {
  const hn::ScalableTag<float> df;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const auto s = hn::Set(df, -scale), far = hn::Set(df, -space);
  for (int x = 0; x < count; x += lanes) {
    const auto l = hn::Sub(hn::LoadU(df, p.l + x), hn::LoadU(df, q.l + x));
    const auto a = hn::Sub(hn::LoadU(df, p.a + x), hn::LoadU(df, q.a + x));
    const auto b = hn::Sub(hn::LoadU(df, p.b + x), hn::LoadU(df, q.b + x));
    const auto distance = hn::Sqrt(hn::MulAdd(l, l, hn::MulAdd(a, a, hn::Mul(b, b))));
    hn::StoreU(hn::Exp(df, hn::MulAdd(distance, s, far)), df, weights + x);
  }
}

template <bool kGaps>
void add_row(const WindowRow& row, float* sums, float* totals) {
  const hn::ScalableTag<float> df;
  const int lanes = static_cast<int>(hn::Lanes(df));
  for (int x = 0; x < row.width; x += lanes) {
    auto sum = hn::Zero(df), total = hn::Zero(df);
    const float* weights = row.weights + x;
    const float* source_weights = row.source_weights + x;
    const float* costs = row.costs + x - row.radius;
    const float* finite = kGaps ? row.finite + x - row.radius : nullptr;
    for (int i = 0; i <= 2 * row.radius; ++i) {
      const auto w = hn::Mul(hn::LoadU(df, weights), hn::LoadU(df, source_weights));
      sum = hn::MulAdd(w, hn::LoadU(df, costs + i), sum);
      total = kGaps ? hn::MulAdd(w, hn::LoadU(df, finite + i), total) : hn::Add(total, w);
      weights += row.pitch, source_weights += row.source_pitch;
    }
    hn::StoreU(hn::Add(hn::LoadU(df, sums + x), sum), df, sums + x);
    hn::StoreU(hn::Add(hn::LoadU(df, totals + x), total), df, totals + x);
  }
}

/// sums[x] += sum over i of w C, totals[x] += sum over i of w, without the invalid samples. May write up to
/// one vector beyond the width.
void add_window_row(const WindowRow& row, float* sums, float* totals) {
  return row.finite != nullptr ? add_row<true>(row, sums, totals) : add_row<false>(row, sums, totals);
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(weights_of_row);
HWY_EXPORT(add_window_row);

namespace {

/// Floats that a SIMD loop may read and write beyond the end of a row.
constexpr int kBeyond = 64;

/// An image in CIELab with arbitrary padding columns, so that every pixel of a row has all neighbours.
class LabImage {
 public:
  LabImage(ImageView<const Rgb8> image, int radius)
      : width_(image.width),
        radius_(radius),
        pitch_(std::ptrdiff_t{image.width} + 2 * radius + kBeyond),
        buffer_(element_count({pitch_, 3, image.height})) {
    parallel_for(image.height, [&](int y) {
      float* rows = buffer_.data() + 3 * y * pitch_;
      std::fill_n(rows, 3 * pitch_, 0.0f);
      for (int x = 0; x < width_; ++x) {
        const Lab colour = to_lab(image(x, y));
        rows[radius_ + x] = colour.l;
        rows[pitch_ + radius_ + x] = colour.a;
        rows[2 * pitch_ + radius_ + x] = colour.b;
      }
    });
  }

  /// From column x, -radius <= x.
  LabRow row(int y, int x) const {
    const float* l = buffer_.data() + 3 * y * pitch_ + radius_ + x;
    return {l, l + pitch_, l + 2 * pitch_};
  }
  int width() const { return width_; }

 private:
  int width_, radius_;
  std::ptrdiff_t pitch_;
  AlignedBuffer<float> buffer_;
};

/// The weights between the pixels of two rows, by offset i = -radius .. radius: 0 where the pixel of the
/// second row lies outside the image, and 1 in the columns left and right of the image.
class WeightRows {
 public:
  WeightRows(int width, int radius, int left, int right)
      : width_(width),
        radius_(radius),
        left_(left),
        pitch_(padded_count<float>(left + width + right + kBeyond)),
        buffer_(element_count({pitch_, 2 * radius + 1})) {
    std::fill_n(buffer_.data(), pitch_ * (2 * radius + 1), 1.0f);
  }

  void fill(const LabImage& image, int y, int j, const AdaptiveWeightOptions& options) {
    for (int i = -radius_; i <= radius_; ++i) {
      float* weights = buffer_.data() + (i + radius_) * pitch_ + left_;
      const float space = std::sqrt(static_cast<float>(i * i + j * j)) / options.gamma_space;
      HWY_DYNAMIC_DISPATCH(weights_of_row)
      (image.row(y, 0), image.row(y + j, i), 1.0f / options.gamma_colour, space, width_, weights);
      std::fill(weights, weights + std::clamp(-i, 0, width_), 0.0f);
      std::fill(weights + std::clamp(width_ - i, 0, width_), weights + width_, 0.0f);
      std::fill_n(weights + width_, pitch_ - left_ - width_, 1.0f);
    }
  }

  const float* at(int column) const { return buffer_.data() + left_ + column; }
  std::ptrdiff_t pitch() const { return pitch_; }

 private:
  int width_, radius_, left_;
  std::ptrdiff_t pitch_;
  AlignedBuffer<float> buffer_;
};

/// Images and options of a call.
struct Problem {
  const LabImage& reference;
  const LabImage* source;  ///< null if none
  const SupportViews<Rgb8>& views;
  const AdaptiveWeightOptions& options;
  VolumeView<const float> costs;
  VolumeView<float> aggregated;

  /// Column of the source that matches column 0, clamped to the range that affects the result.
  int shift(int d) const {
    return std::clamp(matching_column(views.side, 0, views.min_disparity + d), -costs.width, costs.width);
  }
  int min_shift() const { return std::min(shift(0), shift(costs.planes - 1)); }
  int max_shift() const { return std::max(shift(0), shift(costs.planes - 1)); }
};

/// Aggregates rows sequentially.
class RowAggregator {
 public:
  explicit RowAggregator(const Problem& problem)
      : problem_(problem),
        width_(problem.costs.width),
        radius_(problem.options.radius),
        pitch_(std::ptrdiff_t{width_} + 2 * radius_ + kBeyond),
        weights_(width_, radius_, 0, 0),
        source_weights_(width_, radius_, std::max(0, -problem.min_shift()), std::max(0, problem.max_shift())),
        costs_(pitch_),
        finite_(pitch_),
        sums_(element_count({pitch_, problem.costs.planes})),
        totals_(element_count({pitch_, problem.costs.planes})) {
    std::fill_n(costs_.data(), pitch_, 0.0f);
    std::fill_n(finite_.data(), pitch_, 0.0f);
  }

  void aggregate(int y) {
    const int planes = problem_.costs.planes, height = problem_.costs.height;
    std::fill_n(sums_.data(), pitch_ * planes, 0.0f);
    std::fill_n(totals_.data(), pitch_ * planes, 0.0f);
    for (int j = std::max(-radius_, -y); j <= std::min(radius_, height - 1 - y); ++j) {
      weights_.fill(problem_.reference, y, j, problem_.options);
      if (problem_.source != nullptr) source_weights_.fill(*problem_.source, y, j, problem_.options);
      for (int d = 0; d < planes; ++d) add(y + j, d);
    }
    for (int d = 0; d < planes; ++d) {
      float* out = problem_.aggregated.row(y, d);
      const float* sums = sums_.data() + d * pitch_;
      const float* totals = totals_.data() + d * pitch_;
      for (int x = 0; x < width_; ++x)
        out[x] = totals[x] > 0.0f ? sums[x] / totals[x] : std::numeric_limits<float>::infinity();
    }
  }

 private:
  void add(int y, int d) {
    const bool gaps = take_costs(problem_.costs.row(y, d));
    const int shift = problem_.source != nullptr ? problem_.shift(d) : 0;
    const WindowRow row{weights_.at(0),
                        source_weights_.at(shift),
                        weights_.pitch(),
                        source_weights_.pitch(),
                        costs_.data() + radius_,
                        gaps ? finite_.data() + radius_ : nullptr,
                        radius_,
                        width_};
    HWY_DYNAMIC_DISPATCH(add_window_row)(row, sums_.data() + d * pitch_, totals_.data() + d * pitch_);
  }

  /// Copies a row, setting invalid samples to 0; returns whether there are any.
  bool take_costs(const float* row) {
    float* costs = costs_.data() + radius_;
    float* finite = finite_.data() + radius_;
    int gaps = 0;
    for (int x = 0; x < width_; ++x) {
      const bool is_finite = row[x] <= std::numeric_limits<float>::max();
      costs[x] = is_finite ? row[x] : 0.0f;
      finite[x] = is_finite ? 1.0f : 0.0f;
      gaps += !is_finite;
    }
    return gaps > 0;
  }

  const Problem& problem_;
  int width_, radius_;
  std::ptrdiff_t pitch_;
  WeightRows weights_, source_weights_;  ///< without a source all source weights are 1
  AlignedBuffer<float> costs_, finite_, sums_, totals_;
};

}  // namespace

void adaptive_weight(const SupportViews<Rgb8>& views, const AdaptiveWeightOptions& options,
                     VolumeView<const float> costs, VolumeView<float> aggregated) {
  EXPECTS(options.radius >= 0 && options.radius <= kMaxAdaptiveRadius);
  EXPECTS(options.gamma_colour > 0.0f && options.gamma_space > 0.0f);
  EXPECTS(views.fits(costs.width, costs.height));
  EXPECTS(costs.width == aggregated.width && costs.planes == aggregated.planes &&
          costs.height == aggregated.height);
  EXPECTS(costs.data != aggregated.data || costs.data == nullptr || memory_is_counted());
  if (costs.width == 0 || costs.height == 0 || costs.planes == 0) return;
  // CIELab of both views; per thread the weights of both views, padded by the width of the other view on each
  // side, and the sums of a row of all planes.
  const auto bytes = [&](int threads) {
    const std::ptrdiff_t row = costs.width + kPaddedRow, radius = options.radius, wide = row + 2 * radius;
    return element_count({2, 3, costs.height, wide, sizeof(float)}) +
           element_count({threads, 2 * radius + 1, 4 * row, sizeof(float)}) +
           element_count({threads, 2 * std::ptrdiff_t{costs.planes} + 1, wide, sizeof(float)});
  };
  compute(bytes, [&] {
    const LabImage reference(views.reference, options.radius), source(views.source, options.radius);
    const Problem problem{reference, views.source.empty() ? nullptr : &source, views, options, costs,
                          aggregated};
    const int workers = std::min(oneapi::tbb::this_task_arena::max_concurrency(), costs.height);
    parallel_for(workers, [&](int worker) {
      RowAggregator rows(problem);
      for (int y = worker; y < costs.height; y += workers) {
        check_interrupted();
        rows.aggregate(y);
      }
    });
  });
}

}  // namespace recon
#endif

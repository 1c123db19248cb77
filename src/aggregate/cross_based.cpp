#include <algorithm>
#include <cstdint>
#include <limits>

#include "aggregate/aggregation.hpp"
#include "aggregate/cost_unit_step.hpp"
#include "aggregate/gaps.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"

namespace recon {
namespace {

/// Sums over the supports of one plane.
template <class T>
class SupportSums {
 public:
  SupportSums(int width, int height)
      : width_(width),
        height_(height),
        pitch_(padded_count<T>(width)),
        columns_(element_count({pitch_, std::ptrdiff_t{height} + 1})),
        line_(static_cast<std::size_t>(width) + 1) {
    std::fill_n(columns_.data(), width_, T{0});
  }

  /// Calls emit(y, sums) with the sums of row y, in ascending y, after all rows of `row_of` have been read.
  template <class RowOf, class Emit>
  void run(CrossOrder order, ImageView<const Cross> arms, const RowOf& row_of, T* sums, const Emit& emit) {
    for (int y = 0; y < height_; ++y) {
      const auto* values = row_of(y);
      const T* above = column_prefix(y);
      T* below = column_prefix(y + 1);
      if (order == CrossOrder::kHorizontal) {
        along_row(values, arms.row(y), sums);
        for (int x = 0; x < width_; ++x) below[x] = above[x] + sums[x];
      } else {
        for (int x = 0; x < width_; ++x) below[x] = above[x] + static_cast<T>(values[x]);
      }
    }
    for (int y = 0; y < height_; ++y) {
      const Cross* crosses = arms.row(y);
      for (int x = 0; x < width_; ++x)
        sums[x] = column_prefix(y + crosses[x].down + 1)[x] - column_prefix(y - crosses[x].up)[x];
      if (order == CrossOrder::kVertical) along_row(sums, crosses, sums);
      emit(y, static_cast<const T*>(sums));
    }
  }

 private:
  T* column_prefix(int y) { return columns_.data() + y * pitch_; }

  /// Sums along the horizontal arms; `sums` may equal `values`.
  template <class V>
  void along_row(const V* values, const Cross* crosses, T* sums) {
    T* line = line_.data();
    line[0] = T{0};
    for (int x = 0; x < width_; ++x) line[x + 1] = line[x] + static_cast<T>(values[x]);
    for (int x = 0; x < width_; ++x) sums[x] = line[x + crosses[x].right + 1] - line[x - crosses[x].left];
  }

  int width_, height_;
  std::ptrdiff_t pitch_;
  AlignedBuffer<T> columns_, line_;
};

/// Aggregates planes sequentially.
class PlaneAggregator {
 public:
  PlaneAggregator(const SupportViews<Cross>& views, const CrossBasedOptions& options, CostUnit unit,
                  VolumeView<float> costs)
      : views_(views),
        options_(options),
        unit_(unit),
        costs_(costs),
        arms_(costs.width, costs.height),
        counts_{{costs.width, costs.height}, {costs.width, costs.height}},
        cost_sums_(costs.width, costs.height),
        count_sums_(costs.width, costs.height),
        sums_(static_cast<std::size_t>(costs.width)),
        count_line_(static_cast<std::size_t>(costs.width)),
        ones_(static_cast<std::size_t>(costs.width)),
        rounded_(static_cast<std::size_t>(costs.width)) {
    std::fill_n(ones_.data(), costs.width, std::int32_t{1});
  }

  void aggregate(int d) {
    for (int y = 0; y < costs_.height; ++y) combine_row(y, d);
    if (has_gaps(costs_, d)) return aggregate_with_gaps(d);
    for (int i = 0; i < std::min(options_.iterations, 2); ++i) count(i);
    for (int i = 0; i < options_.iterations; ++i) {
      const Image<std::int32_t>& counts = counts_[i % 2];
      cost_sums_.run(
          order_of(i), arms_.view(), [&](int y) { return rounded_row(y, d); }, sums_.data(),
          [&](int y, const double* sums) {
            float* out = costs_.row(y, d);
            const std::int32_t* in_support = counts.row(y);
            for (int x = 0; x < costs_.width; ++x)
              out[x] = static_cast<float>(sums[x]) / static_cast<float>(in_support[x]);
          });
    }
  }

 private:
  static bool is_finite(float cost) { return cost <= std::numeric_limits<float>::max(); }

  const float* rounded_row(int y, int d) {
    const float* row = costs_.row(y, d);
    for (int x = 0; x < costs_.width; ++x) rounded_.data()[x] = unit_.rounded(row[x]);
    return rounded_.data();
  }

  /// The same, excluding samples of infinite cost.
  void aggregate_with_gaps(int d) {
    const int width = costs_.width;
    const auto ones = [&](int y) {
      const float* row = costs_.row(y, d);
      for (int x = 0; x < width; ++x) ones_.data()[x] = is_finite(row[x]) ? 1 : 0;
      return static_cast<const std::int32_t*>(ones_.data());
    };
    const auto values = [&](int y) {
      const float* row = costs_.row(y, d);
      for (int x = 0; x < width; ++x) rounded_.data()[x] = is_finite(row[x]) ? unit_.rounded(row[x]) : 0.0f;
      return static_cast<const float*>(rounded_.data());
    };
    for (int i = 0; i < options_.iterations; ++i) {
      Image<std::int32_t>& counts = counts_[i % 2];
      count_sums_.run(order_of(i), arms_.view(), ones, count_line_.data(),
                      [&](int y, const std::int32_t* sums) { std::copy_n(sums, width, counts.row(y)); });
      cost_sums_.run(order_of(i), arms_.view(), values, sums_.data(), [&](int y, const double* sums) {
        float* out = costs_.row(y, d);
        const std::int32_t* in_support = counts.row(y);
        for (int x = 0; x < width; ++x)
          out[x] = in_support[x] > 0 ? static_cast<float>(sums[x]) / static_cast<float>(in_support[x])
                                     : std::numeric_limits<float>::infinity();
      });
    }
    std::fill_n(ones_.data(), width, std::int32_t{1});
  }

  static CrossOrder order_of(int iteration) {
    return iteration % 2 == 0 ? CrossOrder::kHorizontal : CrossOrder::kVertical;
  }

  void count(int iteration) {
    Image<std::int32_t>& counts = counts_[iteration % 2];
    count_sums_.run(
        order_of(iteration), arms_.view(), [&](int) { return ones_.data(); }, count_line_.data(),
        [&](int y, const std::int32_t* sums) { std::copy_n(sums, costs_.width, counts.row(y)); });
  }

  void combine_row(int y, int d) {
    const Cross* here = views_.reference.row(y);
    Cross* arms = arms_.row(y);
    const int width = costs_.width;
    if (views_.source.empty()) {
      std::copy_n(here, width, arms);
      return;
    }
    const Cross* there = views_.source.row(y);
    const int shift = matching_column(views_.side, 0, views_.min_disparity + d);
    const int begin = std::clamp(-shift, 0, width), end = std::clamp(width - shift, begin, width);
    std::copy_n(here, begin, arms);
    for (int x = begin; x < end; ++x) arms[x] = common_cross(here[x], there[x + shift]);
    std::copy(here + end, here + width, arms + end);
  }

  const SupportViews<Cross>& views_;
  const CrossBasedOptions& options_;
  CostUnit unit_;
  VolumeView<float> costs_;
  Image<Cross> arms_;
  Image<std::int32_t> counts_[2];  ///< pixels in each support, by order
  SupportSums<double> cost_sums_;
  SupportSums<std::int32_t> count_sums_;
  AlignedBuffer<double> sums_;
  AlignedBuffer<std::int32_t> count_line_, ones_;
  AlignedBuffer<float> rounded_;  ///< a row
};

}  // namespace

void cross_based(const SupportViews<Cross>& views, const CrossBasedOptions& options, float max_cost,
                 VolumeView<float> costs) {
  EXPECTS(options.iterations >= 0 && options.iterations <= 64);
  EXPECTS(views.fits(costs.width, costs.height));
  const CostUnit unit = cost_unit(max_cost);
  if (costs.width == 0 || costs.height == 0 || options.iterations == 0) return;
  // Per thread the common arms of a plane, two counts, and column sums of costs and of ones.
  const auto bytes = [&](int threads) {
    return element_count({std::min(threads, costs.planes), std::ptrdiff_t{costs.height} + 4,
                          costs.width + kPaddedRow,
                          sizeof(Cross) + 3 * sizeof(std::int32_t) + sizeof(double)});
  };
  compute(bytes, [&] {
    const int workers = std::min(oneapi::tbb::this_task_arena::max_concurrency(), costs.planes);
    parallel_for(workers, [&](int worker) {
      PlaneAggregator plane(views, options, unit, costs);
      for (int d = worker; d < costs.planes; d += workers) {
        check_interrupted();
        plane.aggregate(d);
      }
    });
  });
}

}  // namespace recon

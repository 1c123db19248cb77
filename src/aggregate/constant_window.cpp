#include <algorithm>
#include <array>
#include <limits>

#include "aggregate/aggregation.hpp"
#include "aggregate/cost_unit_step.hpp"
#include "aggregate/gaps.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aggregate/constant_window.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// sums[x] += entering[x] - leaving[x], both rounded; either may be null. Rows are padded to whole vectors.
void update_column_sums(const float* entering, const float* leaving, CostUnit unit, int width, double* sums) {
  const hn::CappedTag<double, 8> df64;
  const hn::Rebind<float, decltype(df64)> df32;
  const int lanes = static_cast<int>(hn::Lanes(df64));
  const auto offset = hn::Set(df32, unit.offset());
  const auto rounded = [&](const float* costs) {
    return hn::PromoteTo(df64, hn::Sub(hn::Add(hn::LoadU(df32, costs), offset), offset));
  };
  for (int x = 0; x < width; x += lanes) {
    auto sum = hn::LoadU(df64, sums + x);
    if (leaving != nullptr) sum = hn::Sub(sum, rounded(leaving + x));
    if (entering != nullptr) sum = hn::Add(sum, rounded(entering + x));
    hn::StoreU(sum, df64, sums + x);
  }
}

/// means[x] = (prefix[x + span] - prefix[x]) / count for x < width.
void window_means(const double* prefix, int span, float count, int width, float* means) {
  const hn::ScalableTag<double> df64;
  const hn::Rebind<float, decltype(df64)> df32;
  const int lanes = static_cast<int>(hn::Lanes(df64));
  const auto counts = hn::Set(df32, count);
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto sum = hn::Sub(hn::LoadU(df64, prefix + x + span), hn::LoadU(df64, prefix + x));
    hn::StoreU(hn::Div(hn::DemoteTo(df32, sum), counts), df32, means + x);
  }
  for (; x < width; ++x) means[x] = static_cast<float>(prefix[x + span] - prefix[x]) / count;
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {

HWY_EXPORT(update_column_sums);
HWY_EXPORT(window_means);

namespace {

/// A larger cost is infinite.
constexpr float kMaxCost = std::numeric_limits<float>::max();

/// Planes processed together: the additions of one prefix sum are dependent, those of several planes are not.
constexpr int kGroup = 4;

/// Column sums and their prefix sums of a group of planes.
class GroupSums {
 public:
  explicit GroupSums(int width)
      : width_(width),
        pitch_(padded_count<double>(width + 1)),
        columns_(element_count({pitch_, kGroup})),
        prefix_(element_count({pitch_, kGroup})) {}

  double* columns(int k) { return columns_.data() + k * pitch_; }
  double* prefix(int k) { return prefix_.data() + k * pitch_; }
  void clear() { std::fill_n(columns_.data(), pitch_ * kGroup, 0.0); }

  void add_up() {
    std::array<double, kGroup> sums{};
    for (int k = 0; k < kGroup; ++k) prefix(k)[0] = 0.0;
    for (int x = 0; x < width_; ++x)
      for (int k = 0; k < kGroup; ++k) {
        sums[k] += columns(k)[x];
        prefix(k)[x + 1] = sums[k];
      }
  }

 private:
  int width_;
  std::ptrdiff_t pitch_;
  AlignedBuffer<double> columns_, prefix_;
};

/// Means of one row from the prefix sums of the column sums over `rows` rows.
void write_means(const double* prefix, int width, int radius, int rows, float* means) {
  const auto cut = [&](int x) {
    const int begin = std::max(0, x - radius), end = std::min(width, x + radius + 1);
    means[x] = static_cast<float>(prefix[end] - prefix[begin]) /
               (static_cast<float>(end - begin) * static_cast<float>(rows));
  };
  const int whole_begin = std::min(radius, width), whole_end = std::max(whole_begin, width - radius);
  for (int x = 0; x < whole_begin; ++x) cut(x);
  const int side = 2 * radius + 1;
  if (whole_begin < whole_end) HWY_DYNAMIC_DISPATCH(window_means)
  (prefix + (whole_begin - radius), side, static_cast<float>(side) * static_cast<float>(rows),
   whole_end - whole_begin, means + whole_begin);
  for (int x = whole_end; x < width; ++x) cut(x);
}

void aggregate_group(VolumeView<const float> costs, int radius, CostUnit unit, int first, int planes,
                     VolumeView<float> aggregated, GroupSums& sums) {
  sums.clear();
  const auto row_of = [&](int y, int d) { return y >= 0 && y < costs.height ? costs.row(y, d) : nullptr; };
  for (int y = -radius; y < costs.height; ++y) {
    for (int k = 0; k < planes; ++k) HWY_DYNAMIC_DISPATCH(update_column_sums)
    (row_of(y + radius, first + k), row_of(y - radius - 1, first + k), unit, costs.width, sums.columns(k));
    if (y < 0) continue;
    sums.add_up();
    const int rows = std::min(costs.height, y + radius + 1) - std::max(0, y - radius);
    for (int k = 0; k < planes; ++k)
      write_means(sums.prefix(k), costs.width, radius, rows, aggregated.row(y, first + k));
  }
}

/// The same for plane d with invalid samples: of the group, the first are sums of costs, the second are
/// counts.
void aggregate_with_gaps(VolumeView<const float> costs, int radius, CostUnit unit, int d,
                         VolumeView<float> aggregated, GroupSums& sums) {
  const int width = costs.width;
  const auto update = [&](int y, double sign) {
    if (y < 0 || y >= costs.height) return;
    const float* row = costs.row(y, d);
    for (int x = 0; x < width; ++x) {
      const bool finite = row[x] <= kMaxCost;
      sums.columns(0)[x] += sign * static_cast<double>(finite ? unit.rounded(row[x]) : 0.0f);
      sums.columns(1)[x] += finite ? sign : 0.0;
    }
  };
  sums.clear();
  for (int y = -radius; y < costs.height; ++y) {
    update(y + radius, 1.0);
    update(y - radius - 1, -1.0);
    if (y < 0) continue;
    sums.add_up();
    const double *prefix = sums.prefix(0), *counts = sums.prefix(1);
    float* means = aggregated.row(y, d);
    for (int x = 0; x < width; ++x) {
      const int begin = std::max(0, x - radius), end = std::min(width, x + radius + 1);
      const double count = counts[end] - counts[begin];
      means[x] = count > 0 ? static_cast<float>(prefix[end] - prefix[begin]) / static_cast<float>(count)
                           : std::numeric_limits<float>::infinity();
    }
  }
}

}  // namespace

void constant_window(VolumeView<const float> costs, int radius, float max_cost,
                     VolumeView<float> aggregated) {
  EXPECTS(radius >= 0 && radius <= kMaxConstantRadius);
  EXPECTS(costs.width == aggregated.width && costs.planes == aggregated.planes &&
          costs.height == aggregated.height);
  EXPECTS(costs.data != aggregated.data || costs.data == nullptr || memory_is_counted());
  const CostUnit unit = cost_unit(max_cost);
  if (costs.width == 0 || costs.height == 0) return;
  // A larger window covers the same pixels as one of the size of the image.
  const int reach = std::min(radius, std::max(costs.width, costs.height));
  const auto aggregate = [&](int group) {
    GroupSums sums(costs.width);
    const int first = group * kGroup;
    const int planes = std::min(kGroup, costs.planes - first);
    bool gaps = false;
    for (int d = first; d < first + planes; ++d) gaps = gaps || has_gaps(costs, d);
    if (!gaps) return aggregate_group(costs, reach, unit, first, planes, aggregated, sums);
    for (int d = first; d < first + planes; ++d) aggregate_with_gaps(costs, reach, unit, d, aggregated, sums);
  };
  // Column sums of four planes, and their prefix sums.
  compute(
      [&](int threads) {
        return element_count({threads, costs.width + kPaddedRow, 8, sizeof(double)});
      },
      [&] { parallel_for((costs.planes + kGroup - 1) / kGroup, aggregate); });
}

}  // namespace recon
#endif

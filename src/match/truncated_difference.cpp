#include "match/truncated_difference.hpp"

#include <algorithm>

#include "core/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/truncated_difference.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void differences_on_target(TruncatedDifference cost, const float* left, const float* right, int count,
                           float* costs) {
  const hn::ScalableTag<float> df;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const auto weight = hn::Set(df, cost.weight), cap = hn::Set(df, cost.cap);
  int i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto difference = hn::AbsDiff(hn::LoadU(df, left + i), hn::LoadU(df, right + i));
    hn::StoreU(hn::Mul(weight, hn::Min(difference, cap)), df, costs + i);
  }
  for (; i < count; ++i) costs[i] = cost.inside(left[i], right[i]);
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {
namespace {

Image<float> every_second_column(ImageView<const float> image, int first) {
  Image<float> result((image.width - first + 1) / 2, image.height);
  parallel_for(result.height(), [&](int y) {
    for (int i = 0; i < result.width(); ++i) result(i, y) = image(2 * i + first, y);
  });
  return result;
}

}  // namespace

HWY_EXPORT(differences_on_target);

TruncatedDifferenceRows::TruncatedDifferenceRows(ImageView<const float> left, ImageView<const float> right,
                                                 TruncatedDifference cost, int min_disparity)
    : left_{every_second_column(left, 0), every_second_column(left, 1)},
      right_{every_second_column(right, 0), every_second_column(right, 1)},
      cost_(cost),
      min_disparity_(min_disparity) {
  EXPECTS(left.width == right.width && left.height == right.height);
}

void TruncatedDifferenceRows::row(int y, int x_parity, int first, int count, int d, float* costs) const {
  const int disparity = min_disparity_ + d;
  const int right_parity = (x_parity - disparity) & 1;
  const int shift = (x_parity - disparity - right_parity) / 2;  // column i matches column i + shift
  const int begin = std::clamp(-shift, first, first + count);
  const int end = std::clamp(right_[right_parity].width() - shift, begin, first + count);
  std::fill(costs, costs + (begin - first), cost_.outside());
  if (begin < end) HWY_DYNAMIC_DISPATCH(differences_on_target)
  (cost_, left_[x_parity].row(y) + begin, right_[right_parity].row(y) + begin + shift, end - begin,
   costs + (begin - first));
  std::fill(costs + (end - first), costs + count, cost_.outside());
}

}  // namespace recon
#endif

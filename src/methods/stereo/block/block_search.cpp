#include "methods/stereo/block/block_search.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "methods/stereo/block/block_search.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "core/interrupt.hpp"
#include "methods/stereo/block/block_step.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The minimum over all lanes.
template <class D, class V>
HWY_INLINE hn::TFromD<D> min_lane(D d, V v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half;
    return min_lane(half, hn::Min(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else
#endif
    return hn::GetLane(hn::MinOfLanes(d, v));
}

/// Searches the rows of a strip in order; T is the type of window sums.
template <class T, BlockCost kCost>
class StripSearch {
 public:
  StripSearch(const BlockSearch& search, BlockScratch& scratch)
      : search_(search),
        region_(search.level.region),
        radius_(search.options.radius),
        hypotheses_(search.level.hypotheses),
        steps_(search.options.steps_per_pixel),
        width_(search.left.width),
        first_column_(std::max(region_.x - radius_, 0)),
        end_column_(std::min(region_.x + region_.width + radius_, width_)),
        pitch_((search.level.hypotheses + kBlockLanes - 1) / kBlockLanes * kBlockLanes),
        columns_(reinterpret_cast<T*>(scratch.columns.data())),
        sums_(reinterpret_cast<T*>(scratch.sums.data())),
        scratch_(scratch) {}

  void run(int row_begin, int row_end, ImageView<float> disparity) {
    start(region_.y + row_begin);
    for (int y = region_.y + row_begin; y < region_.y + row_end; ++y) {
      check_interrupted();
      float* out = disparity.row(y) + region_.x;
      search_row(y, y > region_.y + row_begin, out);
      if (search_.options.left_right >= 0) check_left_right(out);
    }
  }

 private:
  using D = hn::ScalableTag<T>;
  using Bytes = hn::Rebind<std::uint8_t, D>;
  using V = hn::Vec<D>;
  static constexpr T kNone = std::numeric_limits<T>::max();

  /// The rows entering and leaving the windows.
  struct Change {
    const std::uint8_t *left_in, *right_in, *left_out, *right_out;
  };

  T* column(int x) const { return columns_ + std::ptrdiff_t{x - first_column_} * pitch_; }
  int row_at(int y) const { return std::clamp(y, 0, search_.left.height - 1); }
  std::ptrdiff_t right_offset(int x) const { return std::ptrdiff_t{steps_} * (width_ - 1 - x); }

  /// Costs of the left pixel and the samples of the next hypotheses.
  static HWY_INLINE V costs(V left, const std::uint8_t* right) {
    const D d;
    const auto difference = hn::Sub(left, hn::PromoteTo(d, hn::LoadU(Bytes(), right)));
    if constexpr (kCost == BlockCost::kSsd) {
      return hn::Mul(difference, difference);
    } else {
      const hn::RebindToSigned<D> ds;
      return hn::BitCast(d, hn::Abs(hn::BitCast(ds, difference)));
    }
  }

  /// Initialises the column sums for the windows of the first row.
  void start(int y) {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    std::fill_n(columns_, std::ptrdiff_t{end_column_ - first_column_} * pitch_, T{0});
    for (int j = -radius_; j <= radius_; ++j) {
      const std::uint8_t* left = search_.left.row(row_at(y + j));
      const std::uint8_t* right = search_.right.row(row_at(y + j));
      for (int x = first_column_; x < end_column_; ++x) {
        T* sums = column(x);
        const auto pixel = hn::Set(d, static_cast<T>(left[x]));
        for (int k = 0; k < hypotheses_; k += lanes)
          hn::Store(hn::Add(hn::Load(d, sums + k), costs(pixel, right + right_offset(x) + k)), d, sums + k);
      }
    }
  }

  /// Moves the sums of a column down by one row.
  void roll_column(const Change& change, int x) {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    T* sums = column(x);
    const auto in = hn::Set(d, static_cast<T>(change.left_in[x]));
    const auto out = hn::Set(d, static_cast<T>(change.left_out[x]));
    const std::ptrdiff_t offset = right_offset(x);
    for (int k = 0; k < hypotheses_; k += lanes) {
      const auto more = hn::Add(hn::Load(d, sums + k), costs(in, change.right_in + offset + k));
      hn::Store(hn::Sub(more, costs(out, change.right_out + offset + k)), d, sums + k);
    }
  }

  /// Initialises the window sums for the first pixel of a row.
  void start_window() {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    for (int k = 0; k < hypotheses_; k += lanes) {
      auto sum = hn::Zero(d);
      for (int i = -radius_; i <= radius_; ++i)
        sum = hn::Add(sum, hn::Load(d, column(std::clamp(region_.x + i, 0, width_ - 1)) + k));
      hn::Store(sum, d, sums_ + k);
    }
  }

  /// Moves the window by one pixel, rolling the entering column if `kRoll`; returns the min sums per lane.
  template <bool kRoll>
  HWY_INLINE V move_window(const Change& change, int gained, int lost) {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    T* gain = column(gained);
    const T* loss = column(lost);
    const auto in = hn::Set(d, static_cast<T>(kRoll ? change.left_in[gained] : 0));
    const auto out = hn::Set(d, static_cast<T>(kRoll ? change.left_out[gained] : 0));
    const std::uint8_t* right_in = change.right_in + right_offset(gained);
    const std::uint8_t* right_out = change.right_out + right_offset(gained);
    auto min_costs = hn::Set(d, kNone);
    const auto move = [&](int k) HWY_ATTR {
      auto column_sum = hn::Load(d, gain + k);
      if constexpr (kRoll) {
        column_sum = hn::Sub(hn::Add(column_sum, costs(in, right_in + k)), costs(out, right_out + k));
        hn::Store(column_sum, d, gain + k);
      }
      const auto sum = hn::Sub(hn::Add(hn::Load(d, sums_ + k), column_sum), hn::Load(d, loss + k));
      hn::Store(sum, d, sums_ + k);
      return sum;
    };
    int k = 0;
    for (; k + lanes <= hypotheses_; k += lanes) min_costs = hn::Min(min_costs, move(k));
    if (k < hypotheses_) {
      const auto valid = hn::FirstN(d, hypotheses_ - k);
      min_costs = hn::Min(min_costs, hn::IfThenElse(valid, move(k), hn::Set(d, kNone)));
    }
    return min_costs;
  }

  /// The min sums per lane over hypotheses outside [from, to).
  V min_outside(int from, int to) const {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const auto none = hn::Set(d, kNone);
    auto min_costs = none;
    for (int k = 0; k < hypotheses_; k += lanes) {
      auto sum = hn::Load(d, sums_ + k);
      if (k + lanes > from && k < to) {
        const auto before = hn::FirstN(d, std::max(from - k, 0));
        const auto inside = hn::FirstN(d, std::min(to - k, lanes));
        sum = hn::IfThenElse(before, sum, hn::IfThenElse(inside, none, sum));
      }
      if (k + lanes > hypotheses_) sum = hn::IfThenElse(hn::FirstN(d, hypotheses_ - k), sum, none);
      min_costs = hn::Min(min_costs, sum);
    }
    return min_costs;
  }

  std::uint32_t cost_of(int k) const {
    return k >= 0 && k < hypotheses_ ? static_cast<std::uint32_t>(sums_[k]) : kNoBlockCost;
  }

  /// Finds the winner of pixel `i` of the region's row from the window sums and their minima per lane.
  HWY_INLINE void finish(int i, V min_costs, float* out) {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const T cost = min_lane(d, min_costs);
    const auto wanted = hn::Set(d, cost);
    int k = 0;
    for (std::ptrdiff_t lane = -1;; k += lanes) {
      lane = static_cast<std::ptrdiff_t>(hn::FindFirstTrue(d, hn::Eq(hn::Load(d, sums_ + k), wanted)));
      if (lane < 0) continue;
      k += static_cast<int>(lane);
      break;
    }
    BlockWinner winner{k, cost, cost_of(k - 1), cost_of(k + 1), kNoBlockCost};
    if (search_.level.limits.uniqueness > 0) {
      const T second = min_lane(d, min_outside(k - steps_, k + steps_ + 1));
      if (second != kNone) winner.second = second;
    }
    scratch_.costs.data()[i] = cost;
    scratch_.winners.data()[i] = static_cast<std::uint16_t>(k);
    out[i] = is_trusted(winner, search_.level.limits)
                 ? block_disparity(winner, search_.level.searched.min, steps_, search_.options.subpixel)
                 : kUnknown;
  }

  void search_row(int y, bool roll, float* out) {
    const int in = row_at(y + radius_), away = row_at(y - radius_ - 1);
    const Change change{search_.left.row(in), search_.right.row(in), search_.left.row(away),
                        search_.right.row(away)};
    int ready = roll ? first_column_ : end_column_;  // columns before it have been rolled
    for (; ready < std::min(region_.x + radius_ + 1, end_column_); ++ready) roll_column(change, ready);
    start_window();
    finish(0, min_outside(0, 0), out);
    for (int i = 1; i < region_.width; ++i) {
      const int gained = region_.x + i + radius_, lost = std::max(region_.x + i - radius_ - 1, 0);
      if (gained < end_column_ && ready <= gained) {
        finish(i, move_window<true>(change, gained, lost), out);
        ready = gained + 1;
      } else {
        finish(i, move_window<false>(change, std::min(gained, width_ - 1), lost), out);
      }
    }
  }

  /// Invalidates pixels that disagree with the owner of their position in the right image.
  void check_left_right(float* out) {
    const int last = steps_ * (width_ - 1);
    std::uint64_t* owners = scratch_.owners.data();
    const std::uint16_t* winners = scratch_.winners.data();
    std::fill_n(owners, last + 1, kUnassigned);
    const auto position = [&](int i) {
      return steps_ * (region_.x + i - search_.level.searched.min) - winners[i];
    };
    for (int i = 0; i < region_.width; ++i) {
      const int p = position(i);
      if (p < 0 || p > last) continue;
      owners[p] = std::min(owners[p], block_owner_key(scratch_.costs.data()[i], winners[i]));
    }
    for (int i = 0; i < region_.width; ++i) {
      const int p = position(i);
      if (p < 0 || p > last || !agrees_with_owner(owners[p], winners[i], search_.options.left_right, steps_))
        out[i] = kUnknown;
    }
  }

  const BlockSearch& search_;
  Region region_;
  int radius_, hypotheses_, steps_, width_;
  int first_column_, end_column_;
  std::ptrdiff_t pitch_;
  T* columns_;
  T* sums_;
  BlockScratch& scratch_;
};

void search_rows_on_target(const BlockSearch& search, int row_begin, int row_end, BlockScratch& scratch,
                           ImageView<float> disparity) {
  if (search.options.cost == BlockCost::kSsd)
    return StripSearch<std::uint32_t, BlockCost::kSsd>(search, scratch).run(row_begin, row_end, disparity);
  if (sums_fit_16_bits(search.options))
    return StripSearch<std::uint16_t, BlockCost::kSad>(search, scratch).run(row_begin, row_end, disparity);
  StripSearch<std::uint32_t, BlockCost::kSad>(search, scratch).run(row_begin, row_end, disparity);
}

void prefilter_row_on_target(ImageView<const std::uint8_t> image, int y, int cap, std::uint8_t* out) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::uint8_t* rows[3] = {image.row(std::max(y - 1, 0)), image.row(y),
                                 image.row(std::min(y + 1, image.height - 1))};
  const auto one = [&](int x) {
    out[x] = sobel_response(
        cap, [&](int i, int j) { return int{rows[j + 1][std::clamp(x + i, 0, image.width - 1)]}; });
  };
  one(0);
  int x = 1;
  const auto limit = hn::Set(d, static_cast<std::int16_t>(cap));
  for (; x + lanes < image.width; x += lanes) {
    const auto slope = [&](const std::uint8_t* row) HWY_ATTR {
      return hn::Sub(hn::PromoteTo(d, hn::LoadU(bytes, row + x + 1)),
                     hn::PromoteTo(d, hn::LoadU(bytes, row + x - 1)));
    };
    const auto middle = slope(rows[1]);
    const auto sum = hn::Add(hn::Add(slope(rows[0]), slope(rows[2])), hn::Add(middle, middle));
    const auto clipped = hn::Min(hn::Max(sum, hn::Neg(limit)), limit);
    hn::StoreU(hn::DemoteTo(bytes, hn::Add(clipped, limit)), bytes, out + x);
  }
  for (; x < image.width; ++x) one(x);
}

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace recon {
namespace {

HWY_EXPORT(search_rows_on_target);
HWY_EXPORT(prefilter_row_on_target);

std::size_t sum_bytes(const BlockSearch& search) {
  return sums_fit_16_bits(search.options) ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
}

std::ptrdiff_t cost_row(const BlockSearch& search) {
  return (search.level.hypotheses + kBlockLanes - 1) / kBlockLanes * kBlockLanes;
}

std::ptrdiff_t column_count(const BlockSearch& search) {
  return std::min(search.level.region.width + 2 * search.options.radius, search.left.width);
}

std::ptrdiff_t right_positions(const BlockSearch& search) {
  return std::ptrdiff_t{search.options.steps_per_pixel} * (search.left.width - 1) + 1;
}

}  // namespace

BlockScratch::BlockScratch(const BlockSearch& search)
    : columns(element_count({cost_row(search), column_count(search)}) * sum_bytes(search)),
      sums(element_count({cost_row(search)}) * sum_bytes(search)),
      costs(element_count({search.level.region.width})),
      winners(element_count({search.level.region.width})),
      owners(element_count({right_positions(search)})) {}

std::size_t BlockScratch::bytes(const BlockSearch& search) {
  return element_count(
             {cost_row(search), column_count(search) + 1, static_cast<std::ptrdiff_t>(sum_bytes(search))}) +
         element_count({search.level.region.width, sizeof(std::uint32_t) + sizeof(std::uint16_t)}) +
         element_count({right_positions(search), sizeof(std::uint64_t)}) + 5 * kRowAlignment;
}

void search_block_rows(const BlockSearch& search, int row_begin, int row_end, BlockScratch& scratch,
                       ImageView<float> disparity) {
  EXPECTS(row_begin >= 0 && row_begin < row_end && row_end <= search.level.region.height);
  HWY_DYNAMIC_DISPATCH(search_rows_on_target)(search, row_begin, row_end, scratch, disparity);
}

void prefilter_row(ImageView<const std::uint8_t> image, int y, int cap, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(prefilter_row_on_target)(image, y, cap, out);
}

}  // namespace recon
#endif

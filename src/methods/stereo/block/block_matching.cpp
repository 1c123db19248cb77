#include <algorithm>

#include "core/parallel.hpp"
#include "methods/stereo/block/block_search.hpp"
#include "methods/stereo/pair.hpp"
#include "refine/depth_filters.hpp"

namespace recon {
namespace {

using Grey = ImageView<const std::uint8_t>;

/// Number of strips of rows: enough for an even load of the threads, and tall enough that the initial column
/// sums of a strip, 2 R + 1 rows, cost little.
int strip_count(int rows, int radius, int threads) {
  return std::clamp(rows / (2 * radius + 1), 1, 2 * threads);
}

/// Row y of an image, prefiltered.
void prepare_row(Grey image, int y, const BlockMatchingOptions& options, std::uint8_t* prepared) {
  if (options.prefilter == BlockPrefilter::kSobel)
    prefilter_row(image, y, options.prefilter_cap, prepared);
  else
    std::copy_n(image.row(y), image.width, prepared);
}

Image<std::uint8_t> prepare_left(Grey image, const BlockMatchingOptions& options) {
  Image<std::uint8_t> prepared(image.width, image.height);
  parallel_for(
      image.height, [&](int y) { prepare_row(image, y, options, prepared.row(y)); }, 32);
  return prepared;
}

std::ptrdiff_t right_row(int width, int hypotheses, int steps) {
  return std::ptrdiff_t{steps} * (width - 1) + hypotheses + kBlockLanes;
}

/// Samples a row at steps of 1 / steps pixel.
void sample_row(const std::uint8_t* row, int width, int steps, std::uint8_t* samples) {
  if (steps == 1) {
    std::copy_n(row, width, samples);
    return;
  }
  for (int x = 0; x < width; ++x)
    for (int part = 0; part < steps; ++part)
      samples[std::ptrdiff_t{x} * steps + part] =
          fractional_sample(row[x], row[std::min(x + 1, width - 1)], part, steps);
}

/// Prepares the right image in the layout of BlockSearch.
Image<std::uint8_t> prepare_right(Grey image, const BlockLevel& level, const BlockMatchingOptions& options) {
  const int steps = options.steps_per_pixel, width = image.width;
  const std::ptrdiff_t last = std::ptrdiff_t{steps} * (width - 1);
  const std::ptrdiff_t length = right_row(width, level.hypotheses, steps);
  // Element r is the sample at `first` - r; clamped to the border outside the image.
  const std::ptrdiff_t first = last - std::ptrdiff_t{steps} * level.searched.min;
  const std::ptrdiff_t inside = std::clamp<std::ptrdiff_t>(first - last, 0, length);
  const std::ptrdiff_t beyond = std::clamp<std::ptrdiff_t>(first + 1, inside, length);
  Image<std::uint8_t> reversed(static_cast<int>(length), image.height);
  const auto bytes = [&](int threads) { return element_count({threads, steps + 1, width}); };
  const auto prepare_rows = [&](int block) {
    AlignedBuffer<std::uint8_t> prepared(width);
    AlignedBuffer<std::uint8_t> samples(static_cast<std::size_t>(width) * static_cast<std::size_t>(steps));
    for (int y = 32 * block; y < std::min(32 * block + 32, image.height); ++y) {
      prepare_row(image, y, options, prepared.data());
      sample_row(prepared.data(), width, steps, samples.data());
      std::uint8_t* out = reversed.row(y);
      std::fill(out, out + inside, samples.data()[last]);
      if (beyond > inside)
        std::reverse_copy(samples.data() + (first - beyond + 1), samples.data() + (first - inside + 1),
                          out + inside);
      std::fill(out + beyond, out + length, samples.data()[0]);
    }
  };
  compute(bytes, [&] { parallel_for((image.height + 31) / 32, prepare_rows); });
  return reversed;
}

/// Invalidates pixels whose windows have too little texture.
void check_texture(Grey image, const BlockLevel& level, const BlockMatchingOptions& options,
                   ImageView<float> disparity) {
  const int radius = options.radius, width = image.width, height = image.height;
  const Region region = level.region;
  parallel_for(
      region.height,
      [&](int row) {
        const int y = region.y + row;
        const auto column = [&](int x) {
          x = std::clamp(x, 0, width - 1);
          std::uint32_t sum = 0;
          for (int j = -radius; j <= radius; ++j) {
            const std::uint8_t* pixels = image.row(std::clamp(y + j, 0, height - 1));
            sum += static_cast<std::uint32_t>(
                pixel_cost<BlockCost::kSad>(pixels[std::min(x + 1, width - 1)], pixels[std::max(x - 1, 0)]));
          }
          return sum;
        };
        std::uint32_t sum = 0;
        for (int i = -radius; i < radius; ++i) sum += column(region.x + i);
        for (int x = region.x; x < region.x + region.width; ++x) {
          sum += column(x + radius);
          if (sum < level.limits.min_texture) disparity(x, y) = kUnknown;
          sum -= column(x - radius);
        }
      },
      16);
}

Image<float> match_level(Grey left, Grey right, const BlockLevel& level,
                         const BlockMatchingOptions& options) {
  const Image<std::uint8_t> prepared_left = prepare_left(left, options);
  const Image<std::uint8_t> prepared_right = prepare_right(right, level, options);
  const BlockSearch search{prepared_left.view(), prepared_right.view(), level, options};
  Image<float> disparity(left.width, left.height);
  if (level.region.width < left.width || level.region.height < left.height) disparity.fill(kUnknown);
  const int rows = level.region.height;
  const auto bytes = [&](int threads) {
    const int at_once = std::min(strip_count(rows, options.radius, threads), threads);
    return static_cast<std::size_t>(at_once) * BlockScratch::bytes(search);
  };
  compute(bytes, [&] {
    const int strips = strip_count(rows, options.radius, oneapi::tbb::this_task_arena::max_concurrency());
    parallel_for(strips, [&](int strip) {
      BlockScratch scratch(search);
      const auto begin = [&](int s) { return static_cast<int>(std::int64_t{rows} * s / strips); };
      search_block_rows(search, begin(strip), begin(strip + 1), scratch, disparity.view());
    });
  });
  if (level.limits.min_texture > 0) check_texture(left, level, options, disparity.view());
  return options.median ? median_3x3(disparity.view()) : std::move(disparity);
}

Image<std::uint8_t> half_size(Grey image) {
  Image<std::uint8_t> half(coarser_size(image.width), coarser_size(image.height));
  parallel_for(
      half.height(),
      [&](int y) {
        const std::uint8_t* upper = image.row(2 * y);
        const std::uint8_t* lower = image.row(std::min(2 * y + 1, image.height - 1));
        for (int x = 0; x < half.width(); ++x) {
          const int next = std::min(2 * x + 1, image.width - 1);
          half(x, y) = mean_of_four(upper[2 * x], upper[next], lower[2 * x], lower[next]);
        }
      },
      32);
  return half;
}

/// Matches level `index` and all coarser levels.
Image<float> match_from(Grey left, Grey right, const std::vector<BlockLevel>& levels, std::size_t index,
                        const BlockMatchingOptions& options) {
  const BlockLevel& level = levels[index];
  Image<float> fine = match_level(left, right, level, options);
  if (index + 1 == levels.size()) return fine;
  const Image<std::uint8_t> half_left = half_size(left), half_right = half_size(right);
  const Image<float> coarse = match_from(half_left.view(), half_right.view(), levels, index + 1, options);
  const Region region = level.region;
  const float max_disparity = static_cast<float>(level.searched.min + level.searched.count - 1);
  parallel_for(
      region.height,
      [&](int row) {
        const int y = region.y + row;
        for (int x = region.x; x < region.x + region.width; ++x)
          fine(x, y) = finer_or_coarser(fine(x, y), coarse(x / 2, y / 2), max_disparity);
      },
      32);
  return fine;
}

}  // namespace

DisparityMap block_matching(const PairProblem& problem) {
  check_pair(problem);
  const GreyPair& images = problem.images;
  const BlockMatchingOptions& options = problem.options.block;
  const std::vector<BlockLevel> levels =
      plan_block_levels(images.left.width, images.left.height, problem.options.range, options);
  return {match_from(images.left, images.right, levels, 0, options)};
}

}  // namespace recon

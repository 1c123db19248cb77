#include "optimize/graph_cut/graph_cut.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

#include "core/parallel.hpp"
#include "optimize/graph_cut/graph_cut_band.hpp"

namespace recon {
namespace {

void check(const GraphCutOptions& options) {
  EXPECTS(std::isfinite(options.smoothness) && options.smoothness >= 0.0f);
  EXPECTS(options.smoothness_cap >= 1 && options.smoothness_cap <= kMaxCutLabels);
  EXPECTS(options.edge_falloff >= 0 && options.edge_falloff <= 65535);
  EXPECTS(options.best >= 0 && options.reach >= 0 && options.reach <= 1000);
  EXPECTS(options.band_rows == 0 || options.band_rows >= 2);
  EXPECTS(options.passes >= 1);
}

/// The bands of a layout, separated by one row each: [0, first), [first + 1, first + band_rows), ...
std::vector<RowRange> bands(int height, int first, int band_rows) {
  std::vector<RowRange> result{{0, std::min(first, height)}};
  for (int row = first; row + 1 < height; row += band_rows)
    result.push_back({row + 1, std::min(row + band_rows, height)});
  return result;
}

/// Both layouts, or a single one if the image is one band.
std::vector<std::vector<RowRange>> layouts(int height, const GraphCutOptions& options) {
  const int rows = options.band_rows;
  if (rows == 0 || height <= rows) return {{{0, height}}};
  return {bands(height, rows, rows), bands(height, rows / 2, rows)};
}

class Cut {
 public:
  Cut(VolumeView<const float> costs, ImageView<const std::uint8_t> guide, const GraphCutOptions& options)
      : costs_(costs),
        options_(options),
        restricted_(options.best > 0 && options.best < costs.planes),
        limits_(restricted_ ? costs.width : 0, restricted_ ? costs.height : 0),
        energy_(costs, guide, options, survey()) {}

  void lower(ImageView<std::uint16_t> labels) {
    data_ = Image<float>(costs_.width, costs_.height);
    parallel_for(costs_.height, [&](int y) {
      for (int x = 0; x < costs_.width; ++x) {
        const int label = labels(x, y);
        EXPECTS(label == kNoLabel || (label < costs_.planes && CutEnergy::is_allowed(costs_(x, y, label))));
        data_(x, y) = label == kNoLabel ? 0.0f : energy_.data(costs_(x, y, label));
      }
    });
    std::vector<Layout> all;
    for (const auto& layout : layouts(costs_.height, options_))
      all.push_back({layout, std::vector<int>(layout.size(), 0)});
    changed_in_.assign(costs_.height, 0);
    const auto is_done = [&] {
      return std::all_of(all.begin(), all.end(), [&](const Layout& l) { return open_bands(l).empty(); });
    };
    for (int number = 1; number <= options_.passes && !is_done(); ++number)
      pass(all[static_cast<std::size_t>(number - 1) % all.size()], number, labels);
  }

 private:
  struct Layout {
    std::vector<RowRange> bands;
    std::vector<int> done_in;  ///< the last pass in which each band was processed
  };

  /// Finds the limits of the best labels; returns the maximum finite cost.
  float survey() {
    std::vector<float> max_of_rows(costs_.height);
    parallel_for(costs_.height, [&](int y) {
      float row_max = 0.0f;
      for (int d = 0; d < costs_.planes; ++d) {
        const float* row = costs_.row(y, d);
        for (int x = 0; x < costs_.width; ++x) {
          const float cost = CutEnergy::is_allowed(row[x]) ? row[x] : 0.0f;
          row_max = cost > row_max ? cost : row_max;
        }
      }
      max_of_rows[y] = row_max;
      if (restricted_) find_limits(y);
    });
    return *std::max_element(max_of_rows.begin(), max_of_rows.end());
  }

  /// Finds the `best` lowest costs of every pixel of the row.
  void find_limits(int y) {
    const int width = costs_.width, best = options_.best;
    AlignedBuffer<float> sorted(element_count({width, best}));
    std::fill_n(sorted.data(), element_count({width, best}), std::numeric_limits<float>::max());
    AlignedBuffer<float> next(width);
    for (int d = 0; d < costs_.planes; ++d) {
      const float* row = costs_.row(y, d);
      std::copy_n(row, width, next.data());
      for (int k = 0; k < best; ++k) {
        float* level = sorted.data() + std::ptrdiff_t{k} * width;
        for (int x = 0; x < width; ++x) {
          const float a = level[x], b = next.data()[x];
          level[x] = b < a ? b : a;
          next.data()[x] = b < a ? a : b;
        }
      }
    }
    std::copy_n(sorted.data() + std::ptrdiff_t{best - 1} * width, width, limits_.row(y));
  }

  /// The bands with changes in or next to them since they were last processed.
  std::vector<std::size_t> open_bands(const Layout& layout) const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < layout.bands.size(); ++i) {
      const int begin = std::max(layout.bands[i].begin - 1, 0);
      const int end = std::min(layout.bands[i].end + 1, costs_.height);
      const int last = *std::max_element(changed_in_.begin() + begin, changed_in_.begin() + end);
      if (last >= layout.done_in[i]) open.push_back(i);
    }
    return open;
  }

  void pass(Layout& layout, int number, ImageView<std::uint16_t> labels) {
    const CutState state{&energy_, labels, data_.view(), limits_.view(), options_.reach};
    const std::vector<std::size_t> open = open_bands(layout);
    parallel_for(static_cast<int>(open.size()), [&](int i) {
      const RowRange rows = layout.bands[open[i]];
      if (CutBand(state, rows).expand_all())
        std::fill(changed_in_.begin() + rows.begin, changed_in_.begin() + rows.end, number);
      layout.done_in[open[i]] = number;
    });
  }

  VolumeView<const float> costs_;
  GraphCutOptions options_;
  bool restricted_;
  Image<float> limits_;
  CutEnergy energy_;
  Image<float> data_;
  std::vector<int> changed_in_;  ///< the last pass that changed each row
};

/// Max bytes of a cut, excluding costs, guide and labels.
std::size_t bytes_of_cut(int width, int height, const GraphCutOptions& options, int threads) {
  std::size_t largest = 0, max_bands = 0;
  for (const auto& layout : layouts(height, options)) {
    max_bands = std::max(max_bands, layout.size());
    for (const RowRange& rows : layout)
      largest = std::max(largest, CutBand::bytes(width, rows.end - rows.begin));
  }
  const std::size_t at_once = std::min(max_bands, static_cast<std::size_t>(threads));
  // Data per pixel, the sorted costs of a row per thread, and a small amount per row.
  return element_count({padded_count<float>(width), height, 2 * sizeof(float)}) + at_once * largest +
         element_count({width, threads, options.best + 1, sizeof(float)}) +
         element_count({height, 3 * sizeof(double)});
}

void cut(VolumeView<const float> costs, ImageView<const std::uint8_t> guide, const GraphCutOptions& options,
         ImageView<std::uint16_t> labels) {
  check(options);
  EXPECTS(costs.width >= 1 && costs.height >= 1 && costs.planes >= 1 && costs.planes <= kMaxCutLabels);
  EXPECTS(labels.width == costs.width && labels.height == costs.height);
  EXPECTS(guide.empty() || (guide.width == costs.width && guide.height == costs.height));
  try {
    Cut(costs, guide, options).lower(labels);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(
        "no memory for the graph of a band; --max-image-size or --threads lower what is needed");
  }
}

}  // namespace

void graph_cut(VolumeView<const float> costs, ImageView<const std::uint8_t> guide,
               const GraphCutOptions& options, ImageView<std::uint16_t> labels) {
  compute([&](int threads) { return bytes_of_cut(costs.width, costs.height, options, threads); },
          [&] { cut(costs, guide, options, labels); });
}

}  // namespace recon

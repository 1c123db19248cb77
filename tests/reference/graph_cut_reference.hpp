#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "core/volume.hpp"
#include "optimize/graph_cut/graph_cut.hpp"

namespace recon::reference {

/// A Markov random field over the 4-connected grid: E(f) = sum_p D_p(f_p) + sum_pq w_pq min(|f_p - f_q|, K).
struct GridField {
  int width = 0, height = 0, labels = 0, cap = 1;
  std::vector<double> data;    ///< (y, x, label); infinite: not allowed
  std::vector<double> across;  ///< w of (x, y) and (x + 1, y), by (y, x)
  std::vector<double> down;    ///< w of (x, y) and (x, y + 1)

  std::size_t at(int x, int y) const { return static_cast<std::size_t>(y) * width + x; }
  double data_of(std::size_t pixel, int label) const { return data[pixel * labels + label]; }
};

/// The field of a volume and of the grey levels of a guide (empty: uniform weights).
GridField grid_field(VolumeView<const float> costs, ImageView<const std::uint8_t> guide,
                     const GraphCutOptions& options);

using Labels = std::vector<int>;  ///< by (y, x)

Labels labels_of(ImageView<const std::uint16_t> image);

/// Without the terms of pixels of kNoLabel.
double energy_of(const GridField& field, const Labels& labels);

/// The labels of min data cost, the lowest on ties.
Labels winners_of(const GridField& field);

/// The min energy over all labelings, by exhaustive search.
double min_energy(const GridField& field);

/// The min energy over all expansions of all labels, by exhaustive search; includes that of `labels`.
double min_energy_of_expansions(const GridField& field, const Labels& labels);

/// Plain alpha-expansion (Boykov, Veksler and Zabih 2001, Figure 3): one graph of the whole image for each
/// label in ascending order, until a whole cycle does not lower the energy; max-flow after Dinic 1970. Of the
/// min cuts, the one that changes the fewest pixels: those from which flow could still reach the sink.
Labels expanded(const GridField& field, Labels labels);

}  // namespace recon::reference

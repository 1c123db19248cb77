#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "core/aligned_buffer.hpp"
#include "core/image.hpp"
#include "core/volume.hpp"
#include "optimize/graph_cut/graph_cut.hpp"
#include "optimize/graph_cut/graph_cut_step.hpp"

namespace recon {

/// The terms of the energy, rounded to multiples of `step`: see graph_cut.
class CutEnergy {
 public:
  /// @param max_cost  maximum of the finite costs
  CutEnergy(VolumeView<const float> costs, ImageView<const std::uint8_t> guide,
            const GraphCutOptions& options, float max_cost)
      : costs_(costs), guide_(guide), cap_(options.smoothness_cap) {
    const float max_pair_energy = options.smoothness * static_cast<float>(cap_);
    step_ = energy_step(max_cost > max_pair_energy ? max_cost : max_pair_energy);
    for (int g = 0; g < 256; ++g)
      weights_[g] = to_energy(edge_smoothness(options.smoothness, options.edge_falloff, g), step_);
  }

  int width() const { return costs_.width; }
  int height() const { return costs_.height; }
  int labels() const { return costs_.planes; }
  float step() const { return step_; }
  const float* row(int y, int label) const { return costs_.row(y, label); }

  static bool is_allowed(float cost) { return cost <= std::numeric_limits<float>::max(); }
  float data(float cost) const { return to_energy(cost, step_); }

  /// w_pq of two neighbours.
  float weight(int px, int py, int qx, int qy) const {
    if (guide_.empty()) return weights_[0];
    return weights_[std::abs(guide_(px, py) - guide_(qx, qy))];
  }
  float distance(int a, int b) const { return label_distance(a, b, cap_); }

  /// Upper bound of the energy of the four pairs of a pixel.
  float max_smoothness() const { return 4.0f * weights_[0] * static_cast<float>(cap_); }

 private:
  VolumeView<const float> costs_;
  ImageView<const std::uint8_t> guide_;
  int cap_;
  float step_;
  float weights_[256];
};

/// Rows that an expansion may change.
struct RowRange {
  int begin = 0, end = 0;
};

/// Current labelling of an image.
struct CutState {
  const CutEnergy* energy;
  ImageView<std::uint16_t> labels;
  ImageView<float> data;  ///< D_p(f_p), rounded
  /// The highest cost among a pixel's best labels; empty: all labels are allowed.
  ImageView<const float> limits;
  int reach;
};

/// Expansions within a band of rows; pixels outside are fixed. Reads at most the rows adjacent to the band.
class CutBand {
 public:
  CutBand(const CutState& state, RowRange rows);

  /// One expansion of every label, in ascending order. @return whether labels changed
  bool expand_all();

  static std::size_t bytes(int width, int rows);

 private:
  static constexpr int kFixed = -1;

  bool expand(int alpha);
  void find_near(int alpha);
  void collect(int alpha);
  void drop_hopeless(int alpha);
  double max_gain(int index, int alpha) const;
  void solve(int alpha);
  double change(int alpha) const;
  bool apply(int alpha);

  int x_of(int index) const { return index % width_; }
  int y_of(int index) const { return rows_.begin + index / width_; }
  /// The node of a pixel; kFixed if it keeps its label.
  int node_of(int x, int y) const {
    return y >= rows_.begin && y < rows_.end ? nodes_.data()[(y - rows_.begin) * width_ + x] : kFixed;
  }
  /// Calls visit(qx, qy, label of q, w_pq) for the neighbours q of (x, y) that have a label.
  template <class Visit>
  void for_neighbours(int x, int y, const Visit& visit) const;

  CutState state_;
  const CutEnergy& energy_;
  RowRange rows_;
  RowRange seen_;  ///< rows_ and the adjacent rows
  int width_;
  int count_ = 0;                        ///< nodes
  AlignedBuffer<std::uint8_t> near_;     ///< for seen_: whether alpha is allowed within `reach` columns
  AlignedBuffer<std::uint8_t> scratch_;  ///< a row with margins
  AlignedBuffer<std::uint8_t> allowed_;  ///< for a row: whether alpha is allowed
  AlignedBuffer<std::int32_t> nodes_;    ///< node indices of rows_
  AlignedBuffer<std::int32_t> pixels_;   ///< for each node: its index in nodes_
  AlignedBuffer<float> data_;            ///< D(alpha) of the nodes
  AlignedBuffer<double> unary_;          ///< energy of x = 1 at the nodes
  AlignedBuffer<std::uint8_t> takes_;    ///< whether the node takes alpha
};

}  // namespace recon

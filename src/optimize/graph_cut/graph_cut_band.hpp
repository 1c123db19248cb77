#pragma once

#include <cstddef>
#include <cstdint>

#include "core/aligned_buffer.hpp"
#include "optimize/graph_cut/graph_cut_energy.hpp"

namespace recon {

/// Current labelling of an image.
template <class Cost>
struct CutState {
  const CutEnergy<Cost>* energy;
  ImageView<std::uint16_t> labels;
  ImageView<float> data;  ///< D_p(f_p), rounded
  /// The rank of the highest cost among a pixel's best labels; empty: all labels are allowed.
  ImageView<const CostRank<Cost>> limits;
  int reach;
};

/// Expansions within a band of rows; pixels outside are fixed. Reads at most the rows adjacent to the band.
template <class Cost>
class CutBand {
 public:
  CutBand(const CutState<Cost>& state, RowRange rows);

  /// One expansion of every label, in ascending order. @return whether labels changed
  bool expand_all();

  std::int64_t moves() const { return moves_; }
  std::int64_t rises() const { return rises_; }

  static std::size_t bytes(int width, int rows);

 private:
  static constexpr int kFixed = -1;

  bool expand(int alpha);
  void find_near(int alpha);
  void collect(int alpha);
  void drop_hopeless(int alpha);
  double max_gain(int index, int alpha) const;
  void solve(int alpha);
  void add_pairs(int node, int alpha);
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

  CutState<Cost> state_;
  const CutEnergy<Cost>& energy_;
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
  std::int64_t moves_ = 0, rises_ = 0;
};

}  // namespace recon

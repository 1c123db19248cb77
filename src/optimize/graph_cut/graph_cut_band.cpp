#include "optimize/graph_cut/graph_cut_band.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/imgproc/detail/gcgraph.hpp>

namespace recon {
namespace {

using Graph = cv::detail::GCGraph<double>;

/// The bias of a node towards its label is 2^-kLeanBits energy steps. Sums at a node stay below 2^26 steps:
/// including the bias they are exact in double.
constexpr int kLeanBits = 26;

/// Bytes of the graph per node, including its share of the edges.
constexpr std::size_t kGraphBytesPerNode = 40 + 4 * 16 + 3 * sizeof(void*);

std::size_t pixel_count(int width, RowRange rows) {
  return element_count({width, rows.end - rows.begin});
}

}  // namespace

CutBand::CutBand(const CutState& state, RowRange rows)
    : state_(state),
      energy_(*state.energy),
      rows_(rows),
      seen_{std::max(rows.begin - 1, 0), std::min(rows.end + 1, energy_.height())},
      width_(energy_.width()),
      near_(state.limits.empty() ? 0 : pixel_count(width_, seen_)),
      scratch_(state.limits.empty() ? 0 : width_ + 2 * state.reach),
      allowed_(width_),
      nodes_(pixel_count(width_, rows)),
      pixels_(pixel_count(width_, rows)),
      data_(pixel_count(width_, rows)),
      unary_(pixel_count(width_, rows)),
      takes_(pixel_count(width_, rows)) {
  EXPECTS(pixel_count(width_, rows) < std::size_t{1} << kLeanBits);
  std::fill_n(nodes_.data(), pixel_count(width_, rows), kFixed);
}

std::size_t CutBand::bytes(int width, int rows) {
  const std::size_t per_pixel = 2 * sizeof(std::uint8_t) + 2 * sizeof(std::int32_t) + sizeof(float) +
                                sizeof(double) + kGraphBytesPerNode;
  return element_count({width, rows + 2, static_cast<std::ptrdiff_t>(per_pixel)});
}

bool CutBand::expand_all() {
  bool changed = false;
  for (int alpha = 0; alpha < energy_.labels(); ++alpha) changed |= expand(alpha);
  return changed;
}

bool CutBand::expand(int alpha) {
  if (!state_.limits.empty()) find_near(alpha);
  collect(alpha);
  drop_hopeless(alpha);
  bool changed = false;
  if (count_ > 0) {
    solve(alpha);
    changed = apply(alpha);
  }
  for (int node = 0; node < count_; ++node) nodes_.data()[pixels_.data()[node]] = kFixed;
  return changed;
}

/// Marks pixels with a pixel at most `reach` columns away that has alpha as its label or among its best
/// labels.
void CutBand::find_near(int alpha) {
  const int reach = state_.reach;
  std::uint8_t* own = scratch_.data();
  std::fill_n(own, width_ + 2 * reach, std::uint8_t{0});
  for (int y = seen_.begin; y < seen_.end; ++y) {
    const float* costs = energy_.row(y, alpha);
    const float* limits = state_.limits.row(y);
    const std::uint16_t* labels = state_.labels.row(y);
    for (int x = 0; x < width_; ++x)
      own[reach + x] = static_cast<std::uint8_t>((costs[x] <= limits[x]) | (labels[x] == alpha));
    std::uint8_t* near = near_.data() + std::ptrdiff_t{y - seen_.begin} * width_;
    std::memcpy(near, own, width_);
    for (int i = 1; i <= 2 * reach; ++i)
      for (int x = 0; x < width_; ++x) near[x] = static_cast<std::uint8_t>(near[x] | own[i + x]);
  }
}

/// Collects the nodes: pixels where alpha is allowed and does not cost more than the max possible saving.
void CutBand::collect(int alpha) {
  count_ = 0;
  const float too_much = energy_.max_smoothness();
  std::uint8_t* allowed = allowed_.data();
  std::fill_n(allowed, width_, std::uint8_t{1});
  for (int y = rows_.begin; y < rows_.end; ++y) {
    if (!state_.limits.empty()) {
      std::fill_n(allowed, width_, std::uint8_t{0});
      for (int v = std::max(y - state_.reach, seen_.begin); v < std::min(y + state_.reach + 1, seen_.end);
           ++v) {
        const std::uint8_t* near = near_.data() + std::ptrdiff_t{v - seen_.begin} * width_;
        for (int x = 0; x < width_; ++x) allowed[x] = static_cast<std::uint8_t>(allowed[x] | near[x]);
      }
    }
    const float* costs = energy_.row(y, alpha);
    const std::uint16_t* labels = state_.labels.row(y);
    const float* now = state_.data.row(y);
    for (int x = 0; x < width_; ++x) {
      if (!allowed[x] || labels[x] == alpha || labels[x] == kNoLabel || !energy_.is_allowed(costs[x]))
        continue;
      const float data = energy_.data(costs[x]);
      if (data - now[x] >= too_much) continue;
      const int index = (y - rows_.begin) * width_ + x;
      nodes_.data()[index] = count_;
      pixels_.data()[count_] = index;
      data_.data()[count_] = data;
      ++count_;
    }
  }
}

template <class Visit>
void CutBand::for_neighbours(int x, int y, const Visit& visit) const {
  constexpr int kSteps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  for (const auto& step : kSteps) {
    const int qx = x + step[0], qy = y + step[1];
    if (!state_.labels.contains(qx, qy)) continue;
    const int label = state_.labels(qx, qy);
    if (label != kNoLabel) visit(qx, qy, label, static_cast<double>(energy_.weight(x, y, qx, qy)));
  }
}

/// Upper bound of the saving in the pairs of a pixel that takes alpha, for any labels of its neighbours.
double CutBand::max_gain(int index, int alpha) const {
  const int x = x_of(index), y = y_of(index);
  const int label = state_.labels(x, y);
  const float joined = energy_.distance(label, alpha);
  double gain = 0;
  for_neighbours(x, y, [&](int qx, int qy, int other, double weight) {
    float saved = energy_.distance(label, other) - energy_.distance(alpha, other);
    if (node_of(qx, qy) != kFixed && joined > saved) saved = joined;
    gain += weight * static_cast<double>(saved);
  });
  return gain;
}

/// Removes nodes that keep their labels in the cut that changes the fewest pixels: in a forward and a
/// backward pass, since a fixed node lowers the possible saving of its neighbours.
void CutBand::drop_hopeless(int alpha) {
  const auto drop_if_hopeless = [&](int node) {
    const int index = pixels_.data()[node];
    const float now = state_.data(x_of(index), y_of(index));
    if (static_cast<double>(data_.data()[node] - now) >= max_gain(index, alpha))
      nodes_.data()[index] = kFixed;
  };
  for (int node = 0; node < count_; ++node) drop_if_hopeless(node);
  for (int node = count_ - 1; node >= 0; --node)
    if (nodes_.data()[pixels_.data()[node]] != kFixed) drop_if_hopeless(node);
  int kept = 0;
  for (int node = 0; node < count_; ++node) {
    const int index = pixels_.data()[node];
    if (nodes_.data()[index] == kFixed) continue;
    nodes_.data()[index] = kept;
    pixels_.data()[kept] = index;
    data_.data()[kept] = data_.data()[node];
    ++kept;
  }
  count_ = kept;
}

/// Finds the minimum cut that changes the fewest pixels. Every node has a bias towards its label; the sum of
/// all biases is less than one energy step, so the minimum is unique. (The library reports a wrong side for
/// nodes that neither terminal reaches; with the bias there are none.)
void CutBand::solve(int alpha) {
  Graph graph(static_cast<unsigned>(count_), 4u * static_cast<unsigned>(count_));
  for (int node = 0; node < count_; ++node) {
    graph.addVtx();
    const int index = pixels_.data()[node];
    unary_.data()[node] = static_cast<double>(data_.data()[node] - state_.data(x_of(index), y_of(index)));
  }
  bool has_edges = false;
  for (int node = 0; node < count_; ++node) {
    const int index = pixels_.data()[node];
    const int x = x_of(index), y = y_of(index), label = state_.labels(x, y);
    for_neighbours(x, y, [&](int qx, int qy, int other, double weight) {
      const int q = node_of(qx, qy);
      const float both = energy_.distance(label, other), p_alone = energy_.distance(alpha, other);
      if (q == kFixed) {
        unary_.data()[node] += weight * static_cast<double>(p_alone - both);
      } else if (q > node) {
        const ExpansionPair pair = expansion_pair(both, energy_.distance(label, alpha), p_alone);
        unary_.data()[node] += weight * static_cast<double>(pair.p);
        unary_.data()[q] += weight * static_cast<double>(pair.q);
        if (!(weight * static_cast<double>(pair.capacity) > 0)) return;
        graph.addEdges(node, q, weight * static_cast<double>(pair.capacity), 0);
        has_edges = true;
      }
    });
  }
  const double lean = std::ldexp(static_cast<double>(energy_.step()), -kLeanBits);
  for (int node = 0; node < count_; ++node) {
    const double unary = unary_.data()[node] + lean;
    graph.addTermWeights(node, std::max(unary, 0.0), std::max(-unary, 0.0));
  }
  if (has_edges) graph.maxFlow();
  for (int node = 0; node < count_; ++node)
    takes_.data()[node] = has_edges ? !graph.inSourceSegment(node) : unary_.data()[node] < 0;
}

/// The energy after the move minus the energy before.
double CutBand::change(int alpha) const {
  double sum = 0;
  for (int node = 0; node < count_; ++node) {
    if (!takes_.data()[node]) continue;
    const int index = pixels_.data()[node];
    const int x = x_of(index), y = y_of(index), label = state_.labels(x, y);
    sum += static_cast<double>(data_.data()[node] - state_.data(x, y));
    for_neighbours(x, y, [&](int qx, int qy, int other, double weight) {
      const int q = node_of(qx, qy);
      const bool moves_too = q != kFixed && takes_.data()[q];
      if (moves_too && q < node) return;  // counted there
      const float after = moves_too ? 0.0f : energy_.distance(alpha, other);
      sum += weight * static_cast<double>(after - energy_.distance(label, other));
    });
  }
  return sum;
}

bool CutBand::apply(int alpha) {
  const double rise = change(alpha);
  ASSERT(rise <= 0);  // the cut is a minimum
  if (rise >= 0) return false;
  for (int node = 0; node < count_; ++node) {
    if (!takes_.data()[node]) continue;
    const int index = pixels_.data()[node];
    state_.labels(x_of(index), y_of(index)) = static_cast<std::uint16_t>(alpha);
    state_.data(x_of(index), y_of(index)) = data_.data()[node];
  }
  return true;
}

}  // namespace recon

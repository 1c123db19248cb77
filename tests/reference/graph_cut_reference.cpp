#include "reference/graph_cut_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <queue>

namespace recon::reference {
namespace {

double pair_cost(const GridField& field, double weight, int a, int b) {
  return weight * std::min(std::abs(a - b), field.cap);
}

/// A directed graph with capacities; nodes 0 and 1 are source and sink.
class FlowGraph {
 public:
  explicit FlowGraph(std::size_t nodes) : edges_of_(nodes), level_(nodes), next_(nodes) {}

  void add(std::size_t from, std::size_t to, double capacity) {
    edges_of_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    edges_of_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  void fill() {
    while (find_levels()) {
      std::fill(next_.begin(), next_.end(), std::size_t{0});
      while (push_one_path()) {
      }
    }
  }

  /// The nodes from which the sink is reachable in the residual graph.
  std::vector<bool> sink_side() const {
    std::vector<bool> seen(edges_of_.size(), false);
    std::queue<std::size_t> open;
    open.push(1);
    seen[1] = true;
    for (; !open.empty(); open.pop())
      for (const std::size_t e : edges_of_[open.front()])
        if (edges_[e ^ 1].capacity > 0 && !seen[edges_[e].to]) {
          seen[edges_[e].to] = true;
          open.push(edges_[e].to);
        }
    return seen;
  }

 private:
  struct Edge {
    std::size_t to;
    double capacity;
  };

  bool find_levels() {
    std::fill(level_.begin(), level_.end(), -1);
    std::queue<std::size_t> open;
    open.push(0);
    level_[0] = 0;
    for (; !open.empty(); open.pop())
      for (const std::size_t e : edges_of_[open.front()])
        if (edges_[e].capacity > 0 && level_[edges_[e].to] < 0) {
          level_[edges_[e].to] = level_[open.front()] + 1;
          open.push(edges_[e].to);
        }
    return level_[1] >= 0;
  }

  /// Depth-first along increasing levels; a dead end is not visited again.
  bool push_one_path() {
    std::vector<std::size_t> path;
    std::size_t node = 0;
    while (node != 1) {
      std::size_t& i = next_[node];
      while (i < edges_of_[node].size() && !usable(node, edges_of_[node][i])) ++i;
      if (i < edges_of_[node].size()) {
        path.push_back(edges_of_[node][i]);
        node = edges_[path.back()].to;
      } else {
        if (path.empty()) return false;
        node = edges_[path.back() ^ 1].to;
        path.pop_back();
        ++next_[node];
      }
    }
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t e : path) least = std::min(least, edges_[e].capacity);
    for (const std::size_t e : path) {
      edges_[e].capacity -= least;
      edges_[e ^ 1].capacity += least;
    }
    return true;
  }

  bool usable(std::size_t from, std::size_t e) const {
    return edges_[e].capacity > 0 && level_[edges_[e].to] == level_[from] + 1;
  }

  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> edges_of_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

/// The best expansion of `alpha`: pixels on the sink side take the label.
Labels expansion(const GridField& field, const Labels& labels, int alpha) {
  const std::size_t pixels = labels.size();
  std::vector<double> taking(pixels);  // minus the cost of keeping
  std::vector<bool> may(pixels);
  for (std::size_t p = 0; p < pixels; ++p) {
    may[p] = std::isfinite(field.data_of(p, alpha));
    if (may[p]) taking[p] = field.data_of(p, alpha) - field.data_of(p, labels[p]);
  }
  FlowGraph graph(pixels + 2);
  const auto join = [&](std::size_t p, std::size_t q, double weight) {
    const double both = pair_cost(field, weight, labels[p], labels[q]);
    const double p_takes = pair_cost(field, weight, alpha, labels[q]);
    const double q_takes = pair_cost(field, weight, labels[p], alpha);
    if (!may[p] && !may[q]) return;
    if (!may[q]) {
      taking[p] += p_takes - both;
    } else if (!may[p]) {
      taking[q] += q_takes - both;
    } else {
      taking[p] += p_takes - both;
      taking[q] -= p_takes;
      graph.add(p + 2, q + 2, p_takes + q_takes - both);
    }
  };
  for (int y = 0; y < field.height; ++y)
    for (int x = 0; x < field.width; ++x) {
      const std::size_t p = field.at(x, y);
      if (x + 1 < field.width) join(p, field.at(x + 1, y), field.across[p]);
      if (y + 1 < field.height) join(p, field.at(x, y + 1), field.down[p]);
    }
  for (std::size_t p = 0; p < pixels; ++p) {
    if (!may[p]) continue;
    if (taking[p] > 0) graph.add(0, p + 2, taking[p]);
    if (taking[p] < 0) graph.add(p + 2, 1, -taking[p]);
  }
  graph.fill();
  const std::vector<bool> takes = graph.sink_side();
  Labels result = labels;
  for (std::size_t p = 0; p < pixels; ++p)
    if (may[p] && takes[p + 2]) result[p] = alpha;
  return result;
}

}  // namespace

GridField grid_field(VolumeView<const float> costs, ImageView<const std::uint8_t> guide,
                     const GraphCutOptions& options) {
  GridField field{costs.width, costs.height, costs.planes, options.smoothness_cap, {}, {}, {}};
  field.data.reserve(element_count({costs.width, costs.height, costs.planes}));
  const auto weight = [&](int px, int py, int qx, int qy) {
    if (qx >= costs.width || qy >= costs.height) return 0.0f;
    if (guide.empty() || options.edge_falloff == 0) return options.smoothness;
    const float falloff = static_cast<float>(options.edge_falloff);
    const float difference = static_cast<float>(std::abs(guide(px, py) - guide(qx, qy)));
    return options.smoothness * falloff / (falloff + difference);
  };
  for (int y = 0; y < costs.height; ++y)
    for (int x = 0; x < costs.width; ++x) {
      for (int d = 0; d < costs.planes; ++d) field.data.push_back(static_cast<double>(costs(x, y, d)));
      field.across.push_back(static_cast<double>(weight(x, y, x + 1, y)));
      field.down.push_back(static_cast<double>(weight(x, y, x, y + 1)));
    }
  return field;
}

Labels labels_of(ImageView<const std::uint16_t> image) {
  Labels labels;
  for (int y = 0; y < image.height; ++y)
    labels.insert(labels.end(), image.row(y), image.row(y) + image.width);
  return labels;
}

double energy_of(const GridField& field, const Labels& labels) {
  double sum = 0;
  for (int y = 0; y < field.height; ++y)
    for (int x = 0; x < field.width; ++x) {
      const std::size_t p = field.at(x, y);
      if (labels[p] == kNoLabel) continue;
      sum += field.data_of(p, labels[p]);
      const auto pair = [&](double weight, int other) {
        return other == kNoLabel ? 0 : pair_cost(field, weight, labels[p], other);
      };
      if (x + 1 < field.width) sum += pair(field.across[p], labels[field.at(x + 1, y)]);
      if (y + 1 < field.height) sum += pair(field.down[p], labels[field.at(x, y + 1)]);
    }
  return sum;
}

Labels winners_of(const GridField& field) {
  Labels labels(field.across.size(), 0);
  for (std::size_t p = 0; p < labels.size(); ++p)
    for (int d = 1; d < field.labels; ++d)
      if (field.data_of(p, d) < field.data_of(p, labels[p])) labels[p] = d;
  return labels;
}

double min_energy(const GridField& field) {
  Labels labels(field.across.size(), 0);
  double least = energy_of(field, labels);
  for (;;) {
    std::size_t p = 0;
    while (p < labels.size() && ++labels[p] == field.labels) labels[p++] = 0;
    if (p == labels.size()) return least;
    least = std::min(least, energy_of(field, labels));
  }
}

double min_energy_of_expansions(const GridField& field, const Labels& labels) {
  double least = energy_of(field, labels);
  for (int alpha = 0; alpha < field.labels; ++alpha)
    for (std::size_t subset = 0; subset < std::size_t{1} << labels.size(); ++subset) {
      Labels moved = labels;
      for (std::size_t p = 0; p < labels.size(); ++p)
        if (subset >> p & 1) moved[p] = alpha;
      least = std::min(least, energy_of(field, moved));
    }
  return least;
}

Labels expanded(const GridField& field, Labels labels) {
  double energy = energy_of(field, labels);
  for (bool lowered = true; lowered;) {
    lowered = false;
    for (int alpha = 0; alpha < field.labels; ++alpha) {
      const Labels moved = expansion(field, labels, alpha);
      const double after = energy_of(field, moved);
      if (after >= energy) continue;
      labels = moved;
      energy = after;
      lowered = true;
    }
  }
  return labels;
}

}  // namespace recon::reference

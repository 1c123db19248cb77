// Processes a tile of one level of belief propagation, from its costs to its result; compiled once per
// instruction set (Highway's per-target inclusion).

#if defined(RECON_OPTIMIZE_BELIEF_TILE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef RECON_OPTIMIZE_BELIEF_TILE_INL_HPP_
#undef RECON_OPTIMIZE_BELIEF_TILE_INL_HPP_
#else
#define RECON_OPTIMIZE_BELIEF_TILE_INL_HPP_
#endif

#include "core/interrupt.hpp"
#include "optimize/belief/belief_rows-inl.hpp"
#include "optimize/belief/belief_tiling.hpp"

HWY_BEFORE_NAMESPACE();
namespace recon::HWY_NAMESPACE {

/// Working memory of a thread.
template <class T>
struct TileMemory {
  AlignedBuffer<T> ring;
  AlignedBuffer<T> quads;    ///< two rows of costs of the finest level
  AlignedBuffer<T> nothing;  ///< zeros: messages from above the first and below the last row
  AlignedBuffer<float> scratch;

  TileMemory(const BeliefLevel& finest, int iterations, int threads)
      : ring(ring_elements(BeliefTiling(finest, iterations, sizeof(T), threads).ring(finest))),
        quads(element_count({4, finest.pitch})),
        nothing(element_count({finest.pitch + kBeliefColumnStep})),
        scratch(scratch_floats(finest)) {
    std::fill_n(nothing.data(), finest.pitch + kBeliefColumnStep, T{});
  }
};

/// Data shared by all tiles of a level.
template <class T>
struct TileContext {
  const BeliefProblem& problem;
  const BeliefLevel& level;
  const BeliefLevel* coarser;  ///< nullptr for the coarsest level
  const BeliefTiling& tiling;
  bool finest;
  T* arena;  ///< costs and messages of all levels except the finest
  ImageView<std::uint16_t> winners;
};

/// Computes costs of level 0, rounded to the storage type.
template <class T>
void fill_costs(const BeliefCosts& costs, const BeliefColumns& columns, int d, float* scratch, T* stored) {
  if constexpr (std::is_same_v<T, float>) {
    costs(columns, d, stored);
  } else {
    costs(columns, d, scratch);
    store_costs(scratch, columns.count, stored);
  }
}

template <class T>
class BeliefTileRun {
 public:
  BeliefTileRun(const TileContext<T>& context, const BeliefTile& tile, TileMemory<T>& memory)
      : context_(context),
        level_(context.level),
        tile_(tile),
        memory_(memory),
        ring_(context.tiling.ring(context.level)),
        first_column_(context.tiling.reach(context.level, tile, 0).x_begin / 2) {}

  void run() {
    const BeliefTiling& tiling = context_.tiling;
    const BeliefTile first = tiling.reach(level_, tile_, 0);
    for (int front = first.y_begin; front < first.y_end + tiling.stages; ++front) {
      check_interrupted();
      for (int stage = 0; stage < tiling.stages; ++stage) {
        const BeliefTile reach = tiling.reach(level_, tile_, stage);
        const int y = front - stage;
        if (y < reach.y_begin || y >= reach.y_end) continue;
        if (stage == 0)
          begin_row(y, reach);
        else if (stage + 1 < tiling.stages)
          update(y, updated_parity(stage - 1), reach);
        else if (context_.finest)
          choose(y);
        else
          keep(y);
      }
    }
  }

 private:
  /// Columns of a row's pixels of one parity, relative to the ring.
  struct Range {
    int begin, end;
  };
  Range columns(const BeliefTile& reach, int y, int parity) const {
    const int first_x = BeliefLevel::first_x(y, parity);
    return {(reach.x_begin - first_x + 1) / 2 - first_column_,
            (reach.x_end - first_x + 1) / 2 - first_column_};
  }

  T* ring_costs(int y, int parity) { return memory_.ring.data() + ring_.row(y, parity); }
  T* ring_messages(int m, int y, int parity) {
    return memory_.ring.data() + ring_.messages[m] + ring_.row(y, parity);
  }

  /// Computes the costs of the finest level and the initial messages.
  void begin_row(int y, const BeliefTile& reach) {
    const int parity = 1 - updated_parity(0);
    const Range range = columns(reach, y, parity);
    for (int d = 0; d < level_.disparities; ++d) {
      for (int p = 0; p < 2 && context_.finest; ++p) {
        const Range r = columns(reach, y, p);
        if (r.begin < r.end)
          fill_costs(context_.problem.costs,
                     {y, BeliefLevel::first_x(y, p), first_column_ + r.begin, r.end - r.begin}, d,
                     memory_.scratch.data(), ring_costs(y, p) + d * ring_.pitch + r.begin);
      }
      for (int m = 0; m < kMessageCount; ++m) {
        T* row = ring_messages(m, y, parity) + d * ring_.pitch;
        if (context_.coarser)
          expand(*context_.coarser, m, y / 2, d, range, row);
        else
          std::fill(row + range.begin, row + range.end, T{});
      }
    }
  }

  /// Copies the messages of a row of the coarser level to the finer pixels; columns of both parities are at x
  /// / 2 = column.
  void expand(const BeliefLevel& coarse, int message, int coarse_y, int d, Range range, T* HWY_RESTRICT row) {
    const T* base = context_.arena + coarse.messages[message] + d * coarse.pitch;
    const T* HWY_RESTRICT even = base + coarse.row(coarse_y, coarse_y & 1);
    const T* HWY_RESTRICT odd = base + coarse.row(coarse_y, (coarse_y + 1) & 1);
    int i = range.begin;
    if ((i + first_column_) & 1 && i < range.end) {
      row[i] = odd[(i + first_column_) / 2];
      ++i;
    }
    const int half = (i + first_column_) / 2, pairs = (range.end - i) / 2;
    for (int k = 0; k < pairs; ++k) {
      row[i + 2 * k] = even[half + k];
      row[i + 2 * k + 1] = odd[half + k];
    }
    if (i + 2 * pairs < range.end) row[i + 2 * pairs] = even[half + pairs];
  }

  BeliefRow<T> row_of(int y, int parity) {
    const int other = 1 - parity, first_x = BeliefLevel::first_x(y, parity);
    const bool has_above = y > 0, has_below = y + 1 < level_.height;
    BeliefRow<T> row;
    row.cost = context_.finest ? ring_costs(y, parity)
                               : context_.arena + level_.costs + level_.row(y, parity) + first_column_;
    row.cost_pitch = context_.finest ? ring_.pitch : level_.pitch;
    row.above = has_above ? ring_messages(kMessageDown, y - 1, other) : memory_.nothing.data();
    row.above_pitch = has_above ? ring_.pitch : 0;
    row.below = has_below ? ring_messages(kMessageUp, y + 1, other) : memory_.nothing.data();
    row.below_pitch = has_below ? ring_.pitch : 0;
    row.left = ring_messages(kMessageRight, y, other) - (first_x == 0 ? 1 : 0);
    row.right = ring_messages(kMessageLeft, y, other) + first_x;
    row.pitch = ring_.pitch;
    row.first_with_left = 1 - first_x - first_column_;
    row.end_with_right = (level_.width - first_x) / 2 - first_column_;
    for (int m = 0; m < kMessageCount; ++m) row.sent[m] = ring_messages(m, y, parity);
    row.disparities = level_.disparities;
    row.cap = context_.problem.cap;
    return row;
  }

  void update(int y, int parity, const BeliefTile& reach) {
    const Range range = columns(reach, y, parity);
    update_row(row_of(y, parity), range.begin, range.end, memory_.scratch.data());
  }

  void choose(int y) {
    for (int parity = 0; parity < 2; ++parity) {
      const Range range = columns(tile_, y, parity);
      choose_row(row_of(y, parity), range.begin, range.end,
                 context_.winners.row(y) + 2 * first_column_ + BeliefLevel::first_x(y, parity));
    }
  }

  /// Stores the messages for the finer level.
  void keep(int y) {
    for (int parity = 0; parity < 2; ++parity) {
      const Range range = columns(tile_, y, parity);
      if (range.begin >= range.end) continue;
      for (int m = 0; m < kMessageCount; ++m)
        for (int d = 0; d < level_.disparities; ++d)
          std::memcpy(context_.arena + level_.messages[m] + level_.row(y, parity) + d * level_.pitch +
                          first_column_ + range.begin,
                      ring_messages(m, y, parity) + d * ring_.pitch + range.begin,
                      static_cast<std::size_t>(range.end - range.begin) * sizeof(T));
    }
  }

  const TileContext<T>& context_;
  const BeliefLevel& level_;
  BeliefTile tile_;
  TileMemory<T>& memory_;
  BeliefLevel ring_;
  int first_column_;  ///< column of the level at column 0 of the ring
};

}  // namespace recon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

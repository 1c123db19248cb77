#pragma once

#include <cstddef>
#include <vector>

#include "core/aligned_buffer.hpp"
#include "match/cpu_sweep.hpp"
#include "methods/host_stages.hpp"
#include "methods/sweep/depth_step.hpp"
#include "methods/sweep/plane_sweep.hpp"

namespace recon {

/// The stages of a sweep over a block of a view: costs of images that are warped along planes, aggregated,
/// guided by the colours of the reference view, or by its grey levels if it has one channel. After a graph
/// cut, sub-plane depths come from the parabola through the costs, and the confidence is the uniqueness of
/// the label's energy, given the labels of the neighbours.
class SweepStages : public HostStages {
 public:
  /// @param sweep  over the block's `outer`, or null where the costs are made elsewhere
  SweepStages(const SweepProblem& problem, const SweepBlock& block, const CpuSweep* sweep);

  /// Gives the view the results of the block's inner pixels.
  /// @param view  empty, if the block is the whole view
  void put(DepthEstimate& view);

 private:
  void fill(VolumeView<float> costs) const override;
  Volume<float> aggregated(Volume<float> costs) const override;
  SemiGlobalProblem integer_costs() override;
  void select_by_tiles() override;
  void take_winners(int y, const Winner* winners) override;
  void take_paths(int y, const PathWinner* winners, const std::uint16_t* right_planes) override;
  void take_labels() override;
  void refine() override;

  void by_tiles(const TileSink& sink) const;
  void move_edges();
  void quantize(const Tile& tile, VolumeView<const Half> costs, const std::uint8_t* table);
  std::ptrdiff_t code_at(int x, int y) const;
  void store(int x, int y, const WinnerDepth& result);
  float cost_at(int x, int y, int plane) const;
  WinnerDepth cut_depth(const GraphCutOptions& options, int x, int y) const;
  float smoothness_at(const GraphCutOptions& options, int x, int y, int d) const;

  const SweepProblem& problem_;
  const SweepBlock block_;
  const CpuSweep* sweep_;
  const PosedImage reference_;  ///< cropped to the block
  const float cap_;
  AlignedBuffer<std::uint8_t> codes_;  ///< CostStorage::kBytes: see SemiGlobalProblem::stored_costs
  DepthEstimate results_;              ///< of the block's `outer`
};

}  // namespace recon

#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "core/volume.hpp"
#include "methods/hypotheses.hpp"
#include "methods/method_spec.hpp"
#include "methods/stage_list.hpp"
#include "optimize/semi_global/semi_global.hpp"
#include "optimize/winner/winner_step.hpp"

namespace recon {

/// The run of kLabelStages and of the refinement of labels on the host, over a block of a view that is swept
/// or over a view of a rectified pair: one after the other, on the threads of the surrounding task arena.
/// Costs that no stage has to store are never a volume; the results are the same. Where memory is counted
/// (see CountedMemory), the stages take theirs and compute nothing.
class HostStages {
 public:
  virtual ~HostStages() = default;

  void run();

  /// The stages from the optimizer on, over costs that are made elsewhere.
  void run_on(Volume<float> costs);

 protected:
  /// @param guide  image whose edges lower penalties; determines the size
  HostStages(const MethodSpec& spec, const Hypotheses& hypotheses, ImageView<const std::uint8_t> guide)
      : spec_(spec), hypotheses_(hypotheses), guide_(guide) {}

  // The stages that a sweep and a pair have in common call these.

  /// Matches the right view; pairs only.
  virtual void match_other_view() {}
  /// Computes the costs; every one is overwritten.
  virtual void fill(VolumeView<float> costs) const = 0;
  /// See recon::aggregated.
  virtual Volume<float> aggregated(Volume<float> costs) const = 0;
  /// Smooths along scanlines; pairs only.
  virtual Volume<float> along_scanlines(Volume<float> costs) const { return costs; }
  /// Source and max of the integer costs of the semi-global optimizer.
  virtual SemiGlobalProblem integer_costs() = 0;
  /// CostStorage::kNone.
  virtual void select_by_tiles() {}

  // They give their results to these, row by row, concurrently.

  virtual void take_winners(int y, const Winner* winners) = 0;
  virtual void take_paths(int y, const PathWinner* winners, const std::uint16_t* right_planes) = 0;
  virtual void take_labels() = 0;  ///< after a graph cut: all rows

  /// Runs the steps that follow the labels.
  virtual void refine() = 0;

  /// @param label  -1: no label has a cost
  void set_label(int x, int y, int label) {
    if (!labels_.empty()) labels_(x, y) = label < 0 ? kNoLabel : static_cast<std::uint16_t>(label);
  }

  const MethodSpec spec_;
  const Hypotheses hypotheses_;
  const ImageView<const std::uint8_t> guide_;
  Volume<float> costs_;          ///< CostStorage::kFloats
  Image<std::uint16_t> labels_;  ///< for graph cuts; else empty

 private:
  void run_from(LabelStage first);
  void compute_costs();
  void optimize();
  void follow_paths();
  void select_winners();
  void cut();
};

/// The options of a method's graph cut; those of a sweep in the unit of its costs, see quantized_cost.
GraphCutOptions scaled_cut(const MethodSpec& spec);

/// The graph cut of a method, see graph_cut: lowers the energy of labels.
/// @param costs  those of a sweep are changed: its costs are truncated at their cap, see quantized_cost
/// @throws std::logic_error for sizes or options out of range; OutOfMemory
void cut_labels(const MethodSpec& spec, VolumeView<float> costs, ImageView<const std::uint8_t> guide,
                ImageView<std::uint16_t> labels);

}  // namespace recon

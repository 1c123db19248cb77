#pragma once

#include "methods/host_stages.hpp"
#include "methods/stereo/pair.hpp"
#include "methods/stereo/pipeline_costs.hpp"

namespace recon {

/// What the stages of both views of a pair share.
struct PairInputs {
  explicit PairInputs(const PairProblem& problem);

  const PairProblem& problem;
  PipelineCosts costs;
  Image<Cross> left_arms, right_arms;  ///< where a stage follows them
};

/// The stages of a method over a view of a rectified pair. After the optimizer every pixel has a disparity,
/// the lowest one on ties; only outliers that are not repaired become unknown. The sub-pixel stage uses the
/// parabola through the path sums of the semi-global optimizer, otherwise through the costs. The order of
/// the stages is that of X. Mei et al. 2011. WinnerJudge::kSums takes both views' winners from the same sums,
/// see WinnerChecks.
class PairStages : public HostStages {
 public:
  /// @param spec  of the problem, or a part of it
  PairStages(const PairInputs& inputs, PairSide side, const MethodSpec& spec);

  Image<float>& disparity() { return disparity_; }

 private:
  void fill(VolumeView<float> costs) const override { inputs_.costs.fill(side_, costs); }
  Volume<float> aggregated(Volume<float> costs) const override;
  Volume<float> along_scanlines(Volume<float> costs) const override;
  SemiGlobalProblem integer_costs() override;
  void take_winners(int y, const Winner* winners) override;
  void take_paths(int y, const PathWinner* winners, const std::uint16_t* right_planes) override;
  void take_labels() override;
  void match_other_view() override;
  void refine() override;

  void run_step(PairStep step);
  void mark_surfaces();
  void invalidate();
  void add_subpixel();

  /// The images of this view and of the other one.
  template <class T>
  SupportViews<T> views(ImageView<const T> left, ImageView<const T> right) const;

  const PairInputs& inputs_;
  const PairSide side_;
  const DisparityRange range_;
  const WinnerChecks checks_;  ///< of WinnerJudge::kSums
  Image<float> disparity_;
  Image<float> between_;  ///< of the semi-global optimizer: disparities with their sub-pixel part
  Image<float> other_;    ///< disparities of the other view
  Image<Outlier> outliers_;
};

/// The graph cut of a method over disparities that were selected elsewhere.
/// @param costs      (y, d, x) of the view, finite
/// @param disparity  whole numbers of the range, NaN: unknown; of the volume's size; changed in place
/// @throws std::logic_error for sizes or options out of range; OutOfMemory
void cut_disparities(const PairSpec& spec, VolumeView<float> costs, ImageView<const std::uint8_t> guide,
                     ImageView<float> disparity);

}  // namespace recon

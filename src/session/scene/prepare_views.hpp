#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/progress.hpp"
#include "session/products/findings.hpp"
#include "session/products/host_memory.hpp"
#include "session/products/scene_products.hpp"
#include "session/scene/step_inputs.hpp"

namespace recon {

/// The photos of all views that are needed: read, and undistorted into dense/images and dense/masks. One that
/// cannot be used is left out, which changes the sources of others, and so which photos are needed.
class Preparation {
 public:
  /// Makes the plan again without some views.
  using Replan = std::function<void(std::vector<LeftOut>)>;

  /// The arguments outlive this.
  Preparation(SceneProducts& products, const StepInputs& inputs, const HostLimits& host, ProgressStyle style,
              Findings& findings)
      : products_(products),
        plan_(products.plan),
        inputs_(inputs),
        host_(host),
        style_(style),
        findings_(findings),
        stale_(products, Step::kPrepare) {}

  /// Until no more photos are found that cannot be used.
  /// @param write  the undistorted images and masks; else nothing is written
  /// @throws InputError when too little is left, OutputError, Interrupted
  void run(bool write, const Replan& replan);

 private:
  struct DecodedPhoto;
  struct PhotoState;

  void write_mask(int view, DecodedPhoto& photo, StepRecord& record) const;
  void write_view(int view, const std::string& content, const Image<Rgb8>& image, DecodedPhoto& photo,
                  StepRecord record);
  PhotoState prepare_photo(const std::vector<int>& views, bool write);
  std::vector<LeftOut> prepare(const std::vector<int>& views, bool write);

  SceneProducts& products_;
  const ScenePlan& plan_;
  const StepInputs& inputs_;
  const HostLimits host_;
  const ProgressStyle style_;
  Findings& findings_;
  StaleNotice stale_;
};

}  // namespace recon

#pragma once

#include <optional>
#include <string>

#include "methods/stereo/pair.hpp"
#include "session/options/method.hpp"
#include "session/options/pipeline_settings.hpp"

namespace recon {

/// How rectified pairs are matched, by any of the methods that do, and what is done with the result.
struct PairSettings {
  PairSettings() { matching.pipeline = default_pipeline(); }

  /// The options of all these methods; its `method` and `range` are set by who matches.
  PairOptions matching;
  std::optional<int> min_disparity;  ///< nothing: 0
  std::optional<int> max_disparity;  ///< behind the last one; nothing: from the calibration
  std::optional<int> speckle;        ///< patches of fewer pixels are dropped; nothing: by the method
  bool fill = false;                 ///< a value for every pixel

  /// The least patch that stays: a pipeline that fills what is wrong leaves no holes.
  int min_patch(Method method) const {
    return speckle.value_or(method == Method::kPipeline && matching.pipeline.refinement.interpolate ? 0 : 60);
  }

  /// The matching options for `method` and the disparities min <= d < end.
  PairOptions resolved(Method method, int min, int end) const {
    PairOptions options = matching;
    options.method = pair_method(method);
    options.range = {min, end - min};
    return options;
  }
};

/// The text of `--roi`; empty for the whole image.
std::string format_region(const Region& region);

}  // namespace recon

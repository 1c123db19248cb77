#pragma once

#include <optional>
#include <string>

#include "methods/pair.hpp"
#include "session/method.hpp"

namespace recon {

/// How rectified pairs are matched, by any of the three methods that do, and what is done with the result.
struct PairSettings {
  /// The options of all three methods; its `method` and `range` are set by who matches.
  PairOptions matching;
  std::optional<int> min_disparity;  ///< nothing: 0
  std::optional<int> max_disparity;  ///< behind the last one; nothing: from the calibration
  int speckle = 60;                  ///< patches of fewer pixels are dropped
  bool fill = false;                 ///< a value for every pixel

  /// Checks what belongs to `method`.
  /// @throws UsageError that names the option, its value and what it may be
  void check(Method method) const;

  /// The matching options for `method` and the disparities min <= d < end.
  PairOptions resolved(Method method, int min, int end) const;
};

/// Checks the penalties of semi-global matching over costs up to `max_cost`.
/// @throws UsageError that names the option, its value and what it may be
void check_paths(const SemiGlobalOptions& options, int max_cost);

/// The pixels that "x,y,width,height" means.
/// @throws UsageError
Region parse_region(const std::string& text);

/// The same as text; empty for the whole image.
std::string format_region(const Region& region);

}  // namespace recon

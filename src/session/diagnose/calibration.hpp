#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scene/calibration_check.hpp"
#include "scene/scene.hpp"
#include "session/products/findings.hpp"
#include "session/products/scene_input.hpp"

namespace recon {

/// Warns of cameras and poses that the sparse points and the sizes of the photos contradict, before any work.
/// @param left_out  views that do not count
/// @throws InputError when no depth can come from the model
void check_calibration(const SceneInput& input, const std::vector<LeftOut>& left_out, Findings& findings);

/// For people: "focal lengths times 0.769 (667 instead of 867 pixels)".
std::string focal_text(double factor, const Camera& camera);

/// For people: the mistake if it is known, else the usual ones; briefly where a warning has named it, or any.
std::string causes(const SceneInput& input, std::optional<CalibrationMistake> mistake, Findings& findings);

}  // namespace recon

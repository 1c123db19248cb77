#pragma once

#include <string>
#include <vector>

#include "io/cloud/ply.hpp"
#include "scene/scene.hpp"
#include "session/options/scene_settings.hpp"
#include "session/plan/plan.hpp"
#include "session/resume/output_folder.hpp"

namespace recon {

/// --offset: what is subtracted from the coordinates of the cloud, of its tiles, and of the exported model,
/// so that programs which work in floats do not round them. The file fused.offset.txt says it. All other
/// files, and --roi, have the coordinates of the scene.

/// The offset of the user; or, with `auto`, about the middle of the cameras, in numbers a digit finer than
/// the roundest that let floats suffice for all views: 0 where they do without one. It depends on the plan
/// alone.
Vec3d cloud_offset(const ScenePlan& plan, const CloudSettings& cloud);

/// Whether an offset is none of zeros.
bool has_offset(Vec3d offset);

/// The offset, and doubles where floats would blur the cloud. It depends on the plan alone, so that every run
/// agrees on it.
/// @param views  those that are fused
PlyCoordinates cloud_coordinates(const ScenePlan& plan, const CloudSettings& cloud,
                                 const std::vector<int>& views);

/// Subtracts an offset from all coordinates of a scene; its images stay where they are.
void subtract_offset(Scene& scene, Vec3d offset);

/// The content of fused.offset.txt.
std::string offset_file_text(Vec3d offset);

/// Says which offset was chosen where the user leaves it to the program.
void log_offset(const ScenePlan& plan, const CloudSettings& cloud);

}  // namespace recon

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <variant>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/paths.hpp"
#include "scene/faces.hpp"
#include "session/pair/pair_results.hpp"
#include "session/products/host_memory.hpp"
#include "session/products/targets.hpp"
#include "session/resume/output_folder.hpp"
#include "session/scene/output_files.hpp"
#include "session/scene/read_scene.hpp"
#include "session/scene/scene_formats.hpp"
#include "session/session_files.hpp"

namespace recon {

namespace {

/// Whether there is a result of a step, or the run is not to do it.
bool is_finished(Step step, const ScenePlan& plan, const Targets& targets, const Workspace& workspace) {
  if (!targets.does(step)) return true;
  if (!is_of_views(step)) return is_there(workspace.path(Workspace::record_file(step)));
  return std::ranges::all_of(targets.views_of(step, plan), [&](int view) {
    return is_there(workspace.path(Workspace::record_file(step, plan.view(view).output_name)));
  });
}

/// Whether earlier runs have made what a run is to make. What is stale is made again in its place.
bool is_finished(const ScenePlan& plan, const Targets& targets, const Workspace& workspace) {
  const Step last = targets.does(Step::kFusion) ? Step::kFusion : Step::kEstimate;
  return std::ranges::all_of(std::array{last, Step::kTiles, Step::kExport},
                             [&](Step step) { return is_finished(step, plan, targets, workspace); });
}

/// Bytes of the results of an input that earlier runs have not made; 0 where its plan cannot be made.
std::uint64_t bytes_to_write(const Input& input, const SceneSettings& settings, const PairJob& pair,
                             const Workspace& workspace, std::size_t memory) try {
  if (const auto* files = std::get_if<PairFiles>(&input))
    return is_there(workspace.path(Workspace::record_file(Step::kPair)))
               ? 0
               : workspace.bytes_left(pair_output(make_pair_plan(*files, pair)).bytes);
  const auto& folder = std::get<SceneFolder>(input);
  Scene scene = importer_of(folder).read(folder, model_memory(memory));
  const std::vector<LeftOut> left_out = without_photo(folder, scene);
  const ScenePlan plan = make_plan(with_faces(std::move(scene)), left_out, settings);
  return is_finished(plan, Targets(settings), workspace) ? 0
                                                         : workspace.bytes_left(output_bytes(plan, settings));
} catch (const Interrupted&) {
  throw;
} catch (const std::exception&) {
  return 0;
}

/// What several inputs write on one file system.
struct Need {
  std::filesystem::path folder;  ///< of the first of them
  std::size_t inputs = 0;
  std::uint64_t bytes = 0;
};

}  // namespace

void check_session_space(const std::vector<Input>& inputs, const SceneSettings& settings, const PairJob& pair,
                         const Destination& destination, std::size_t memory) {
  std::map<dev_t, Need> needs;
  for (const Input& input : inputs) {
    check_interrupted();
    if (!is_usable(input)) continue;
    const Workspace workspace(destination.of(input, true));
    struct stat info {};
    if (::stat(existing_folder(workspace.root()).c_str(), &info) != 0) continue;  // its turn says why
    const std::uint64_t bytes = bytes_to_write(input, settings, pair, workspace, memory);
    if (bytes == 0) continue;
    Need& need = needs[info.st_dev];
    if (need.inputs++ == 0) need.folder = workspace.root();
    need.bytes += bytes;
  }
  for (const auto& [device, need] : needs)
    if (need.inputs > 1) check_free_space(need.folder, need.bytes, need.inputs);
}

}  // namespace recon

#pragma once

#include <map>
#include <vector>

#include "session/products/scene_products.hpp"
#include "session/products/targets.hpp"

namespace recon {

/// The unfinished or finished tasks of a scene in their order: the views of each step. The steps after the
/// check are each one task of all their views.
using SceneWork = std::map<Step, std::vector<int>>;

/// All work of a run, as if nothing were finished.
SceneWork all_work(const Targets& targets, const ScenePlan& plan);

/// Supersedes all results of earlier runs that a run is to make again, see ResultStore.
/// @throws OutputError
void supersede(const Targets& targets, const SceneProducts& products);

/// What a finished run has made, and did not find finished.
SceneWork made(const Targets& targets, const SceneProducts& products);

/// The same by the time that it took: the photo of a view that was matched was decoded, also where its image
/// was there.
SceneWork work_done(const Targets& targets, const SceneProducts& products);

}  // namespace recon

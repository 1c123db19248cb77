#pragma once

#include <string>
#include <vector>

#include "session/plan/plan.hpp"

namespace recon {

/// Rectifies `view` with its sources, in their order.
/// @param refusal  set where there is no pair: why the first source cannot be rectified
std::vector<ViewPair> plan_pairs(const ScenePlan& plan, int view, PairMethod method, std::string& refusal);

/// The pipeline that the pairs of a scene are matched with.
PairDepthOptions pair_depth_options(const SessionOptions& options);

/// Max memory of matching a pair of the view on `backend`.
/// @throws OutOfMemory when a pair does not fit
WorkMemory pairs_memory(const ViewPlan& view, const SessionOptions& options, const Backend& backend);

}  // namespace recon

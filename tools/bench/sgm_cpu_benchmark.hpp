#pragma once

#include <nlohmann/json.hpp>

#include "methods/stereo/pair.hpp"

namespace recon {

/// Times of semi-global matching on the CPU in milliseconds, whole and by stage, in turns with OpenCV's
/// StereoSGBM (8 paths, and the quick variant with 3) on as many threads; ratios above 1 mean that we are
/// faster.
nlohmann::ordered_json time_sgm_on_cpu(const PairProblem& problem, int repeats, int threads);

}  // namespace recon

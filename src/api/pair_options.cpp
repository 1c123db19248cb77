// Made from the table of options by tools/manual/typed_options.cpp.

#include "reconstruct/pair_options.hpp"

#include "api/typed_options.hpp"

namespace reconstruct {

static constexpr std::tuple kFieldsOfPairOptions = {
    detail::field("method", &PairOptions::method, "sgm bp bm pipeline"),
    detail::field("preset", &PairOptions::preset, "ad-census"),
    detail::field("device", &PairOptions::device, ""),
    detail::field("output", &PairOptions::output, ""),
    detail::field("dry-run", &PairOptions::dry_run, ""),
    detail::field("overwrite", &PairOptions::overwrite, ""),
    detail::field("wait", &PairOptions::wait, ""),
    detail::field("cost", &PairOptions::cost,
                  "census census5x5 census9x7 rank symmetric sad ssd ad ad-census"),
    detail::field("window", &PairOptions::window, ""),
    detail::field("optimizer", &PairOptions::optimizer, "graphcut scanline sgm winner"),
    detail::field("aggregation", &PairOptions::aggregation, "aw cross cw none"),
    detail::field("aw-colour", &PairOptions::aw_colour, ""),
    detail::field("aw-space", &PairOptions::aw_space, ""),
    detail::field("arm-length", &PairOptions::arm_length, ""),
    detail::field("arm-colour", &PairOptions::arm_colour, ""),
    detail::field("cross-iterations", &PairOptions::cross_iterations, ""),
    detail::field("refine", &PairOptions::refine, ""),
    detail::field("min-disparity", &PairOptions::min_disparity, ""),
    detail::field("max-disparity", &PairOptions::max_disparity, ""),
    detail::field("calibration", &PairOptions::calibration, ""),
    detail::field("depth-png", &PairOptions::depth_png, ""),
    detail::field("fill", &PairOptions::fill, ""),
    detail::field("rank-window", &PairOptions::rank_window, ""),
    detail::field("paths", &PairOptions::paths, ""),
    detail::field("p1", &PairOptions::p1, ""),
    detail::field("p2", &PairOptions::p2, ""),
    detail::field("p2-falloff", &PairOptions::p2_falloff, ""),
    detail::field("uniqueness", &PairOptions::uniqueness, ""),
    detail::field("left-right", &PairOptions::left_right, ""),
    detail::field("prefilter", &PairOptions::prefilter, "none sobel"),
    detail::field("prefilter-cap", &PairOptions::prefilter_cap, ""),
    detail::field("steps", &PairOptions::steps, ""),
    detail::field("pyramid", &PairOptions::pyramid, ""),
    detail::field("max-mean-cost", &PairOptions::max_mean_cost, ""),
    detail::field("levels", &PairOptions::levels, ""),
    detail::field("iterations", &PairOptions::iterations, ""),
    detail::field("data-weight", &PairOptions::data_weight, ""),
    detail::field("data-cap", &PairOptions::data_cap, ""),
    detail::field("smoothness-cap", &PairOptions::smoothness_cap, ""),
    detail::field("sigma", &PairOptions::sigma, ""),
    detail::field("storage", &PairOptions::storage, "bfloat16 float half"),
    detail::field("min-texture", &PairOptions::min_texture, ""),
    detail::field("speckle", &PairOptions::speckle, ""),
    detail::field("roi", &PairOptions::roi, ""),
    detail::field("memory-limit", &PairOptions::memory_limit, ""),
    detail::field("gpu-memory-limit", &PairOptions::gpu_memory_limit, ""),
    detail::field("threads", &PairOptions::threads, ""),
};

PairOptions::operator Options() const {
  return detail::guarded([&] { return detail::texts_of(*this, kFieldsOfPairOptions); });
}

}  // namespace reconstruct

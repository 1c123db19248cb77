#include "core/error.hpp"
#include "cuda/testing/cuda_aggregation.hpp"
#include "cuda/testing/cuda_pairs.hpp"
#include "cuda/testing/cuda_pipeline.hpp"
#include "cuda/testing/cuda_sweep.hpp"
#include "methods/backend.hpp"

/// Replaces the CUDA backend in a build without CUDA.

namespace recon {
namespace {

constexpr const char* kReason = "this build has no CUDA";

[[noreturn]] void unavailable() {
  throw DeviceUnavailable(std::string(kReason) + "; --device cpu works without");
}

}  // namespace

CudaDevices find_cuda_devices() {
  return {{}, kReason};
}

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions&) {
  unavailable();
}

namespace cuda {

Volume<Half> sweep_volume(const SweepProblem&, SweepVariant, int) {
  unavailable();
}
LimitedSweep sweep_limited(const SweepProblem&, SweepVariant, std::size_t, int) {
  unavailable();
}
CachedSweeps sweep_with_cache(const std::vector<SweepProblem>&, SweepVariant, std::size_t, int) {
  unavailable();
}
SweepTimes time_sweep(const SweepProblem&, int, int) {
  unavailable();
}
NaiveSweep time_naive_sweep(const SweepProblem&, int, int) {
  unavailable();
}
PairRun run_block_matching(const PairProblem&, std::uint8_t, int) {
  unavailable();
}
BlockTimes time_block_matching(const PairProblem&, int, int, int, int) {
  unavailable();
}
std::size_t count_wrong_reciprocals(int) {
  unavailable();
}
PairRun run_belief(const PairProblem&, std::uint8_t, int) {
  unavailable();
}
BeliefTimes time_belief(const PairProblem&, int, int) {
  unavailable();
}

PairRun run_semi_global(const PairProblem&, std::uint8_t, int) {
  unavailable();
}
PathWinners optimize_given_costs(const GivenCosts&, std::uint8_t, int) {
  unavailable();
}
SemiGlobalTimes time_semi_global(const PairProblem&, int, int) {
  unavailable();
}

Image<Cross> run_cross_arms(ImageView<const Rgb8>, const CrossOptions&, std::uint8_t, int) {
  unavailable();
}
AggregationTimes time_aggregation(const AggregationCase&, int, int) {
  unavailable();
}
Volume<float> run_constant_window(VolumeView<const float>, int, float, std::uint8_t, int) {
  unavailable();
}
Volume<float> run_adaptive_weight(const SupportViews<Rgb8>&, const AdaptiveWeightOptions&,
                                  VolumeView<const float>, std::uint8_t, int) {
  unavailable();
}
Volume<float> run_cross_based(const SupportViews<Cross>&, int, const CrossBasedOptions&, float,
                              VolumeView<const float>, std::uint8_t, int) {
  unavailable();
}

PairRun run_pipeline(const PipelineProblem&, std::uint8_t, int) {
  unavailable();
}
Volume<float> run_colour_costs(const ColourPair&, PairSide, const DisparityRange&, const PipelineOptions&,
                               std::uint8_t, int) {
  unavailable();
}
Volume<float> run_transform_costs(const GreyPair&, PairSide, const DisparityRange&, const PipelineOptions&,
                                  std::uint8_t, int) {
  unavailable();
}
Volume<float> run_scanlines(VolumeView<const float>, ImageView<const Rgb8>, const ScanlineView&,
                            const ScanlineOptions&, std::uint8_t, int) {
  unavailable();
}
Image<float> run_min_cost(VolumeView<const float>, int, std::uint8_t, int) {
  unavailable();
}
RepairedMap run_repair(const RepairProblem&, const RepairSteps&, std::uint8_t, int) {
  unavailable();
}
Image<float> run_map_steps(ImageView<const float>, VolumeView<const float>, int, const MapSteps&,
                           std::uint8_t, int) {
  unavailable();
}
PipelineTimes time_pipeline(const PipelineProblem&, int, int) {
  unavailable();
}

}  // namespace cuda
}  // namespace recon

#include "core/error.hpp"
#include "cuda/testing/cuda_pairs.hpp"
#include "cuda/testing/cuda_pipeline.hpp"
#include "cuda/testing/cuda_sweep.hpp"
#include "methods/backend.hpp"

/// Replaces the CUDA backend, and what the benchmark calls of it, in a build without CUDA.

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

SweepTimes time_sweep(const SweepProblem&, int, int) {
  unavailable();
}
NaiveSweep time_naive_sweep(const SweepProblem&, int, int) {
  unavailable();
}
BlockTimes time_block_matching(const PairProblem&, int, int) {
  unavailable();
}
std::size_t count_wrong_reciprocals(int) {
  unavailable();
}
PairRun run_pair(const PairProblem&, std::uint8_t, int) {
  unavailable();
}
BeliefTimes time_belief(const PairProblem&, int, int) {
  unavailable();
}

SemiGlobalTimes time_semi_global(const PairProblem&, int, int) {
  unavailable();
}

PipelineTimes time_pipeline(const PairProblem&, int, int) {
  unavailable();
}

}  // namespace cuda
}  // namespace recon

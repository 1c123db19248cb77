#include "core/error.hpp"
#include "cuda/testing/timing.hpp"
#include "methods/backend.hpp"
#include "methods/cuda_code.hpp"

/// Replaces the CUDA backend, and what the benchmark calls of it, in a build without CUDA.

namespace recon {
namespace {

constexpr const char* kReason = "this build has no CUDA";

[[noreturn]] void unavailable() {
  throw DeviceUnavailable(std::string(kReason) + "; --device cpu works without");
}

}  // namespace

CudaDevices find_cuda_devices(const std::vector<int>&) {
  return {0, {}, kReason};
}

std::string cuda_code_of_build() {
  return "without CUDA";
}

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions&) {
  unavailable();
}

namespace cuda {

StageTimes time_stages(const SweepProblem&, int, int) {
  unavailable();
}
StageTimes time_stages(const PairProblem&, int, int) {
  unavailable();
}
LiveTimes time_live(const PairProblem&, int, int, int) {
  unavailable();
}
NaiveSweep time_naive_sweep(const SweepProblem&, int, int) {
  unavailable();
}

}  // namespace cuda
}  // namespace recon

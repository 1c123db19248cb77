#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {
namespace {

template <int Radius>
using LowZncc = ZnccCost<Radius>;
template <int Radius>
using TallZncc = ZnccCost<Radius, 64>;
static_assert(fit_everywhere<LowZncc>());

}  // namespace

SweepInstance zncc_instance(int radius, CombineKind combine) {
  return instance_of<LowZncc, BestFloats, 2>(radius, combine);
}

SweepInstance tall_zncc_instance(int radius) {
  return instance_of<TallZncc, BestFloats, 1>(radius, CombineKind::kBest2);
}

}  // namespace recon::cuda

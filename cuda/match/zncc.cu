#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {

SweepInstance zncc_instance(int radius, CombineKind combine) {
  return instance_of<ZnccCost, BestFloats, 2>(radius, combine);
}

}  // namespace recon::cuda

#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {

template <int Radius>
using GreySadCost = SadCost<Radius, 1>;

SweepInstance grey_sad_instance(int radius, CombineKind combine) {
  return instance_of<GreySadCost, BestSums, 2, 1>(radius, combine);
}

}  // namespace recon::cuda

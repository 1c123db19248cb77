#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {

template <int Radius>
using GreySadCost = SadCost<Radius, 1>;

SweepInstance grey_sad_instance(int radius, CombineKind combine) {
  // The best of windows of the usual sizes takes half the registers.
  if (combine == CombineKind::kBest1 && radius == 2) return sweep_instance<GreySadCost<2>, BestSums<1>, 2>();
  if (combine == CombineKind::kBest1 && radius == 3) return sweep_instance<GreySadCost<3>, BestSums<1>, 2>();
  return instance_of<GreySadCost, BestSums<2>, 1>(radius, combine);
}

}  // namespace recon::cuda

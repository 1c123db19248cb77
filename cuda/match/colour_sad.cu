#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {

template <int Radius>
using ColourSadCost = SadCost<Radius, 3>;

SweepInstance colour_sad_instance(int radius, CombineKind combine) {
  return instance_of<ColourSadCost, BestFloats, 1>(radius, combine);
}

}  // namespace recon::cuda

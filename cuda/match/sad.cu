#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {
namespace {

constexpr int kTallSadRows = 80;

template <int Radius>
using GreyCost = SadCost<Radius, 1>;
template <int Radius>
using ColourCost = SadCost<Radius, 3>;

}  // namespace

SweepInstance grey_sad_instance(int radius, CombineKind combine) {
  // The best of windows of the usual sizes takes half the registers, which leaves some for taller tiles.
  if (combine == CombineKind::kBest1 && radius == 2)
    return sweep_instance<SadCost<2, 1, kTallSadRows>, BestSums<1>, 1>();
  if (combine == CombineKind::kBest1 && radius == 3)
    return sweep_instance<SadCost<3, 1, kTallSadRows>, BestSums<1>, 1>();
  return instance_of<GreyCost, BestSums<2>, 1>(radius, combine);
}

SweepInstance colour_sad_instance(int radius, CombineKind combine) {
  return instance_of<ColourCost, BestFloats, 1>(radius, combine);
}

}  // namespace recon::cuda

#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {
namespace {

template <int Radius>
struct GreySad {
  static SweepInstance get(CombineKind combine) {
    using Cost = SadCost<Radius, 1>;
    switch (combine) {
      case CombineKind::kBest1:
        return sweep_instance<Cost, BestSums<1>, 2>();
      case CombineKind::kBest2:
        return sweep_instance<Cost, BestSums<2>, 1>();
      default:
        return sweep_instance<Cost, AnyFloats, 1>();
    }
  }
};

}  // namespace

SweepInstance grey_sad_instance(int radius, CombineKind combine) {
  return instance_of_radius<GreySad>(radius, combine);
}

}  // namespace recon::cuda

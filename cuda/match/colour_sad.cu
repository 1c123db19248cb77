#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {
namespace {

template <int Radius>
struct ColourSad {
  static SweepInstance get(CombineKind combine) {
    using Cost = SadCost<Radius, 3>;
    switch (combine) {
      case CombineKind::kBest1:
        return sweep_instance<Cost, BestFloats<1>, 1>();
      case CombineKind::kBest2:
        return sweep_instance<Cost, BestFloats<2>, 1>();
      default:
        return sweep_instance<Cost, AnyFloats, 1>();
    }
  }
};

}  // namespace

SweepInstance colour_sad_instance(int radius, CombineKind combine) {
  return instance_of_radius<ColourSad>(radius, combine);
}

}  // namespace recon::cuda

#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {
namespace {

template <int Radius>
struct Zncc {
  static SweepInstance get(CombineKind combine) {
    using Cost = ZnccCost<Radius>;
    switch (combine) {
      case CombineKind::kBest1:
        return sweep_instance<Cost, BestFloats<1>, 2>();
      case CombineKind::kBest2:
        return sweep_instance<Cost, BestFloats<2>, 2>();
      default:
        return sweep_instance<Cost, AnyFloats, 2>();
    }
  }
};

}  // namespace

SweepInstance zncc_instance(int radius, CombineKind combine) {
  return instance_of_radius<Zncc>(radius, combine);
}

}  // namespace recon::cuda

#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {
namespace {

template <int Radius>
struct FusedSad {
  static SweepInstance get(CombineKind combine) {
    using Cost = SadCost<Radius, 1>;
    EXPECTS(combine != CombineKind::kAny);
    return combine == CombineKind::kBest1 ? sweep_instance<Cost, BestSums<1>, WinnerSink, 1>()
                                          : sweep_instance<Cost, BestSums<2>, WinnerSink, 1>();
  }
};

}  // namespace

SweepInstance fused_sad_instance(int radius, CombineKind combine) {
  return instance_of_radius<FusedSad>(radius, combine);
}

}  // namespace recon::cuda

#include "cuda/match/sweep_kernel.cuh"

namespace recon::cuda {
namespace {

constexpr int kTallSadRows = 80;

template <int Radius>
using GreyCost = SadCost<Radius, 1>;
template <int Radius>
using ColourCost = SadCost<Radius, 3>;
template <int Radius>
using LowColourCost = SadCost<Radius, 3, 32>;
static_assert(fit_everywhere<GreyCost>() && fit_everywhere<LowColourCost>());

/// The instance with tall tiles, unless two thread blocks of the usual one share a multiprocessor of the
/// current device, and two of the tall one do not.
template <int Radius>
SweepInstance best_grey_instance() {
  const SweepInstance tall = sweep_instance<SadCost<Radius, 1, kTallSadRows>, BestSums<1>, 1>();
  const SweepInstance usual = sweep_instance<SadCost<Radius, 1>, BestSums<1>, 1>();
  const int shared = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const int reserved = device_attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  const auto shares = [&](const SweepInstance& instance) {
    return 2 * (instance.shared_bytes + static_cast<std::size_t>(reserved)) <=
           static_cast<std::size_t>(shared);
  };
  return shares(usual) && !shares(tall) ? usual : tall;
}

}  // namespace

SweepInstance grey_sad_instance(int radius, CombineKind combine) {
  // The best of windows of the usual sizes takes half the registers, which leaves some for taller tiles.
  if (combine == CombineKind::kBest1 && radius == 2) return best_grey_instance<2>();
  if (combine == CombineKind::kBest1 && radius == 3) return best_grey_instance<3>();
  return instance_of<GreyCost, BestSums<2>, 1>(radius, combine);
}

SweepInstance colour_sad_instance(int radius, CombineKind combine) {
  return instance_of<ColourCost, BestFloats, 1>(radius, combine);
}

SweepInstance low_colour_sad_instance() {
  return sweep_instance<LowColourCost<0>, AnyFloats, 1>();
}

}  // namespace recon::cuda

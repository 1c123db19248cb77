#include "cuda/device/error.hpp"
#include "cuda/device/grid.hpp"
#include "cuda/fuse/agreement.hpp"

namespace recon::cuda {

namespace {

__global__ void __launch_bounds__(kRefineThreads)
    agreement_kernel(AgreementGeometry geometry, DeviceMaps reference, SourcePixels source) {
  const int x = static_cast<int>(blockIdx.x * kRefineThreads + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= reference.width) return;
  const int at = y * reference.width + x;
  reference.counts[at] += agreement_step(geometry, x, y, reference.depth[at], reference.normal[at], source);
}

}  // namespace

void launch_agreement(const AgreementGeometry& geometry, const DeviceMaps& reference,
                      const DeviceMaps& source, cudaStream_t stream) {
  const SourcePixels pixels{source.depth, source.normal, source.width, source.width};
  agreement_kernel<<<rows_grid(reference.width, reference.height), kRefineThreads, 0, stream>>>(
      geometry, reference, pixels);
  RECON_CUDA_TRY(cudaGetLastError());
}

}  // namespace recon::cuda

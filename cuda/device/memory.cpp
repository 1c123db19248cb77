#include "cuda/device/memory.hpp"

namespace recon::cuda {

std::string in_mebibytes(std::size_t bytes) {
  return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  RECON_CUDA_TRY(cudaMemGetInfo(&free, &total));
  return free;
}

std::size_t total_memory() {
  std::size_t free = 0, total = 0;
  RECON_CUDA_TRY(cudaMemGetInfo(&free, &total));
  return total;
}

template <>
DeviceBuffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    static_cast<void>(cudaMemGetInfo(&free, &total));
    throw OutOfMemory(
        "the GPU has no " + in_mebibytes(bytes) + " (" + std::to_string(bytes) + " bytes) in one piece; " +
        in_mebibytes(free) + " of " + in_mebibytes(total) +
        " are free. Another program may be using it; --gpu-memory-limit and --max-image-size lower what "
        "is needed");
  }
  RECON_CUDA_TRY(error);
  data_.reset(static_cast<std::byte*>(data));
}

template <>
PinnedBuffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  const cudaError_t error = cudaMallocHost(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory("no " + in_mebibytes(bytes) + " of page-locked host memory for copies to the GPU");
  }
  RECON_CUDA_TRY(error);
  data_.reset(static_cast<std::byte*>(data));
}

}  // namespace recon::cuda

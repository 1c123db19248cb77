#include "cuda/device/memory.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/match/sampling.cuh"
#include "cuda/methods/self_test.hpp"

namespace recon::cuda {
namespace {

__global__ void answer_kernel(unsigned* answer) {
  *answer = 42;
}

constexpr unsigned kFirstBits = 0x3A800000u, kEndBits = 0x50000000u;  // 2^-10 and 2^33

__global__ void reciprocal_kernel(unsigned long long* wrong) {
  unsigned long long count = 0;
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned bits = kFirstBits + blockIdx.x * blockDim.x + threadIdx.x; bits < kEndBits; bits += step) {
    const float x = __uint_as_float(bits);
    if (__float_as_uint(reciprocal(x)) != __float_as_uint(__frcp_rn(x))) ++count;
  }
  if (count > 0) atomicAdd(wrong, count);
}

template <class T, class Launch>
T answer_of(const Launch& launch) {
  const Stream stream;
  const DeviceBuffer buffer(sizeof(T));
  T answer = 0;
  RECON_CUDA_TRY(cudaMemsetAsync(buffer.data(), 0, sizeof(T), stream.get()));
  launch(reinterpret_cast<T*>(buffer.data()), stream.get());
  RECON_CUDA_TRY(cudaGetLastError());
  RECON_CUDA_TRY(cudaMemcpyAsync(&answer, buffer.data(), sizeof(T), cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  return answer;
}

}  // namespace

bool device_answers() {
  return answer_of<unsigned>(
             [](unsigned* answer, cudaStream_t stream) { answer_kernel<<<1, 1, 0, stream>>>(answer); }) == 42;
}

std::size_t count_wrong_reciprocals_here() {
  return answer_of<unsigned long long>([](unsigned long long* wrong, cudaStream_t stream) {
    reciprocal_kernel<<<1024, 256, 0, stream>>>(wrong);
  });
}

}  // namespace recon::cuda

#include "cuda/device/error.hpp"

#include <filesystem>

namespace recon::cuda::detail {

void call_failed(cudaError_t error, const char* call, const char* file, int line) {
  cudaGetLastError();  // not sticky: the next call starts without an error
  throw DeviceError(std::string(call) + " failed: " + cudaGetErrorName(error) + ", " +
                    cudaGetErrorString(error) + " (" + std::filesystem::path(file).filename().string() + ":" +
                    std::to_string(line) + ")");
}

}  // namespace recon::cuda::detail

#include "cuda/methods/staging.hpp"

#include <algorithm>
#include <cstring>

#include "core/parallel.hpp"

namespace recon::cuda {
namespace {

/// Copies rows on several threads. Isolated: a waiting thread must not start the sweep of another view, which
/// would wait for the concurrent stream that this one holds.
template <class Copy>
void for_rows(int rows, const Copy& copy) {
  oneapi::tbb::this_task_arena::isolate([&] { parallel_for(rows, copy, 64); });
}

}  // namespace

void Staging::upload(ImageView<const std::uint8_t> image, std::uint8_t* device, std::ptrdiff_t pitch,
                     const Stream& stream) {
  const int most = static_cast<int>(kHalf / static_cast<std::size_t>(pitch));
  int turn = 0;
  for (int begin = 0; begin < image.height; begin += most, turn ^= 1) {
    const int rows = std::min(most, image.height - begin);
    free_[static_cast<std::size_t>(turn)].synchronize();
    auto* staged = reinterpret_cast<std::uint8_t*>(half(turn));
    for_rows(rows, [&](int y) {
      std::memcpy(staged + y * pitch, image.row(begin + y), static_cast<std::size_t>(image.width));
    });
    RECON_CUDA_TRY(cudaMemcpyAsync(device + begin * pitch, staged, static_cast<std::size_t>(rows * pitch),
                                   cudaMemcpyHostToDevice, stream.get()));
    free_[static_cast<std::size_t>(turn)].record(stream);
  }
}

void Staging::download(const float* device, std::ptrdiff_t pitch, ImageView<float> image,
                       const Stream& stream) {
  const std::size_t row_bytes = static_cast<std::size_t>(pitch) * sizeof(float);
  const int most = static_cast<int>(kHalf / row_bytes);
  const int blocks = (image.height + most - 1) / most;
  for (int block = 0; block <= blocks; ++block) {
    if (block < blocks) {
      const int begin = block * most, rows = std::min(most, image.height - begin), turn = block % 2;
      RECON_CUDA_TRY(cudaMemcpyAsync(half(turn), device + begin * pitch,
                                     static_cast<std::size_t>(rows) * row_bytes, cudaMemcpyDeviceToHost,
                                     stream.get()));
      free_[static_cast<std::size_t>(turn)].record(stream);
    }
    if (block == 0) continue;
    const int begin = (block - 1) * most, rows = std::min(most, image.height - begin), turn = (block - 1) % 2;
    free_[static_cast<std::size_t>(turn)].synchronize();
    const auto* staged = reinterpret_cast<const float*>(half(turn));
    for_rows(rows, [&](int y) {
      std::memcpy(image.row(begin + y), staged + y * pitch,
                  static_cast<std::size_t>(image.width) * sizeof(float));
    });
  }
}

}  // namespace recon::cuda

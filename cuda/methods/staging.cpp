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

/// Number of rows that fit into `bytes`.
int rows_in(std::size_t bytes, std::ptrdiff_t pitch) {
  const auto most = static_cast<std::ptrdiff_t>(bytes);
  EXPECTS(pitch >= 1 && pitch <= most);
  return static_cast<int>(most / pitch);
}

}  // namespace

void Staging::send(const std::byte* host, std::byte* device, const Rows& rows, const Stream& stream) {
  const int most = rows_in(kHalf, rows.device_pitch);
  int turn = 0;
  for (int begin = 0; begin < rows.count; begin += most, turn ^= 1) {
    const int count = std::min(most, rows.count - begin);
    free_[static_cast<std::size_t>(turn)].synchronize();
    std::byte* staged = half(turn);
    for_rows(count, [&](int y) {
      std::memcpy(staged + y * rows.device_pitch, host + (begin + y) * rows.host_pitch,
                  static_cast<std::size_t>(rows.bytes));
    });
    RECON_CUDA_TRY(cudaMemcpyAsync(device + begin * rows.device_pitch, staged,
                                   static_cast<std::size_t>(count * rows.device_pitch),
                                   cudaMemcpyHostToDevice, stream.get()));
    free_[static_cast<std::size_t>(turn)].record(stream);
  }
}

void Staging::receive(const std::byte* device, std::byte* host, const Rows& rows, const Stream& stream) {
  const int most = rows_in(kHalf, rows.device_pitch);
  const int blocks = (rows.count + most - 1) / most;
  for (int block = 0; block <= blocks; ++block) {
    if (block < blocks) {
      const int begin = block * most, count = std::min(most, rows.count - begin), turn = block % 2;
      RECON_CUDA_TRY(cudaMemcpyAsync(half(turn), device + begin * rows.device_pitch,
                                     static_cast<std::size_t>(count * rows.device_pitch),
                                     cudaMemcpyDeviceToHost, stream.get()));
      free_[static_cast<std::size_t>(turn)].record(stream);
    }
    if (block == 0) continue;
    const int begin = (block - 1) * most, count = std::min(most, rows.count - begin), turn = (block - 1) % 2;
    free_[static_cast<std::size_t>(turn)].synchronize();
    const std::byte* staged = half(turn);
    for_rows(count, [&](int y) {
      std::memcpy(host + (begin + y) * rows.host_pitch, staged + y * rows.device_pitch,
                  static_cast<std::size_t>(rows.bytes));
    });
  }
}

}  // namespace recon::cuda

#include "cuda/device/staging.hpp"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstring>

#include "core/parallel.hpp"

namespace recon::cuda {
namespace {

/// Copies rows, large images on several threads, small ones without starting a parallel loop. Isolated: a
/// waiting thread must not start the sweep of another view, which would wait for the concurrent stream that
/// this one holds.
/// @param bytes  of a row
template <class Copy>
void for_rows(int rows, std::ptrdiff_t bytes, const Copy& copy) {
  constexpr std::ptrdiff_t kBytesPerTask = 64 << 10;
  if (rows * bytes <= kBytesPerTask) {
    for (int y = 0; y < rows; ++y) copy(y);
    return;
  }
  const auto grain = static_cast<int>(std::max<std::ptrdiff_t>(1, kBytesPerTask / bytes));
  oneapi::tbb::this_task_arena::isolate([&] { parallel_for(rows, copy, grain); });
}

/// Number of rows that fit into `bytes`.
int rows_in(std::size_t bytes, std::ptrdiff_t pitch) {
  const auto most = static_cast<std::ptrdiff_t>(bytes);
  EXPECTS(pitch >= 1 && pitch <= most);
  return static_cast<int>(most / pitch);
}

}  // namespace

/// A part of the buffer for the next copy to the device, whose earlier content has left.
std::byte* Staging::next_part(std::size_t bytes, const Stream& stream) {
  if (used_ + bytes > kHalf) {
    free_[static_cast<std::size_t>(turn_)].record(stream);
    turn_ ^= 1;
    used_ = 0;
    free_[static_cast<std::size_t>(turn_)].synchronize();
  }
  std::byte* part = half(turn_) + used_;
  used_ += bytes;
  return part;
}

void Staging::send(const std::byte* host, std::byte* device, const Rows& rows, const Stream& stream) {
  const int most = rows_in(kHalf, rows.device_pitch);
  for (int begin = 0; begin < rows.count; begin += most) {
    const int count = std::min(most, rows.count - begin);
    const auto bytes = static_cast<std::size_t>(count * rows.device_pitch);
    std::byte* staged = next_part(bytes, stream);
    for_rows(count, rows.bytes, [&](int y) {
      std::memcpy(staged + y * rows.device_pitch, host + (begin + y) * rows.host_pitch,
                  static_cast<std::size_t>(rows.bytes));
    });
    RECON_CUDA_TRY(cudaMemcpyAsync(device + begin * rows.device_pitch, staged, bytes, cudaMemcpyHostToDevice,
                                   stream.get()));
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
      if (blocks > 1) free_[static_cast<std::size_t>(turn)].record(stream);
    }
    if (block == 0) continue;
    const int begin = (block - 1) * most, count = std::min(most, rows.count - begin), turn = (block - 1) % 2;
    if (blocks > 1)
      free_[static_cast<std::size_t>(turn)].synchronize();
    else
      stream.synchronize();
    const std::byte* staged = half(turn);
    for_rows(count, rows.bytes, [&](int y) {
      std::memcpy(host + (begin + y) * rows.host_pitch, staged + y * rows.device_pitch,
                  static_cast<std::size_t>(rows.bytes));
    });
  }
  used_ = 0;  // all copies to the device were queued before, and are complete
}

}  // namespace recon::cuda

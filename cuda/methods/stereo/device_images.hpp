#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"

/// Between the images of callers in device memory and those of the stages of a pair.

namespace recon::cuda {

/// Where the stages of a pair read its images, left and right; null where none does.
struct PairTargets {
  std::uint8_t* grey[2] = {};
  std::ptrdiff_t grey_pitch = 0;  ///< bytes
  Rgb8* colours[2] = {};          ///< rows without padding
};

/// The images of a pair in device memory: grey, or with three channels red, green and blue.
struct PairSources {
  const std::uint8_t* data[2];
  std::ptrdiff_t pitch[2];  ///< bytes
  int channels;             ///< 1 or 3
  int width, height;        ///< pixels

  bool operator==(const PairSources& other) const {
    return data[0] == other.data[0] && data[1] == other.data[1] && pitch[0] == other.pitch[0] &&
           pitch[1] == other.pitch[1] && channels == other.channels && width == other.width &&
           height == other.height;
  }
};

/// Queues the copies of both images, in grey and in colour. Grey of colours is luma; a colour of grey has
/// three equal channels. @throws DeviceError
void launch_import(const PairSources& from, const PairTargets& to, cudaStream_t stream);
/// The same as a node of a graph, before all others, and for later launches of it other images of its size.
cudaGraphNode_t add_import(cudaGraph_t graph, const PairSources& from, const PairTargets& to);
void change_import(cudaGraphExec_t graph, cudaGraphNode_t node, const PairSources& from,
                   const PairTargets& to);

/// The disparities that the stages of a pair leave: values or planes.
struct PairResult {
  bool of_planes = false;
  float* map = nullptr;                   ///< the values
  const std::uint16_t* planes = nullptr;  ///< or planes, of min_disparity + plane
  int min_disparity = 0;
  std::ptrdiff_t pitch = 0;  ///< elements
  // With patches to leave out; otherwise null.
  int* labels = nullptr;  ///< of each pixel the index of its patch's size
  int* sizes = nullptr;   ///< pixels, exact below `min_size`
  int min_size = 0;       ///< the least patch that stays, pixels
};

/// Where disparities are copied.
struct ExportedMap {
  float* data;
  std::ptrdiff_t pitch;  ///< elements
  int width, height;     ///< pixels

  bool operator==(const ExportedMap& other) const {
    return data == other.data && pitch == other.pitch && width == other.width && height == other.height;
  }
};

/// Queues the copy of the disparities, without patches that are too small: NaN. @throws DeviceError
void launch_export(const PairResult& from, const ExportedMap& to, cudaStream_t stream);
/// The same as a node of a graph after another one, and for later launches of it another map.
cudaGraphNode_t add_export(cudaGraph_t graph, cudaGraphNode_t after, const PairResult& from,
                           const ExportedMap& to);
void change_export(cudaGraphExec_t graph, cudaGraphNode_t node, const PairResult& from,
                   const ExportedMap& to);

}  // namespace recon::cuda

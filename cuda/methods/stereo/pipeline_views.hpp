#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/image.hpp"
#include "cuda/methods/stereo/pair_stages.hpp"
#include "cuda/refine/surfaces.hpp"
#include "match/cross_arms_step.hpp"

namespace recon::cuda {

/// The images of a pipeline on the device and what is derived from them, left and right, without padding;
/// null where no stage needs them.
struct PipelineImages {
  PairGrey grey;
  Rgb8* colours[2];
  std::byte* transformed[2];  ///< ranks or censuses
  float* tables;              ///< CostTables
  std::uint8_t* edges[2];     ///< see queue_edges
  Cross* arms[2];
};

/// Disparities of the views, without padding.
struct PipelineMaps {
  float* left = nullptr;
  float* right = nullptr;  ///< null without left-right check
  float* subpixel =
      nullptr;  ///< the left ones of the semi-global optimizer with their sub-pixel part, or null
};

/// Adds the refinement of the left map of a pair, stage by stage.
class PairRefinement {
 public:
  /// All references are longer-lived.
  /// @param images  those that the steps need
  PairRefinement(const PairShape& shape, const PairSpec& options, const PipelineImages& images,
                 const PipelineMaps& maps, Arena& arena, PairStages& stages);

  /// Adds the steps that follow the labels. @return the refined map
  float* add_steps();

 private:
  template <class Queue>
  void push(const char* name, Queue queue) {
    stages_.refinement.push_back({name, std::move(queue)});
  }
  /// An array of one element a pixel.
  template <class T>
  T* take() {
    return arena_.take<T>(shape_.pixels());
  }
  void add(PairStep step);
  void add_votes();
  void list_outliers();
  float* other();

  const PairShape& shape_;
  const PairSpec& options_;
  const PipelineImages& images_;
  const PipelineMaps maps_;
  Arena& arena_;
  PairStages& stages_;
  float *map_, *other_ = nullptr;  ///< of the last stage, and memory of another one
  bool has_other_ = false;         ///< memory of another one was taken
  LabelledMap labelled_{};         ///< from the check on
  std::optional<OutlierList> list_;
};

}  // namespace recon::cuda

#include "cuda/methods/stereo/pair_stages.hpp"

#include "cuda/refine/surfaces.hpp"

namespace recon::cuda {
namespace {

void add_method(const PairShape& shape, const PairSpec& options, Arena& arena, PairStages& stages) {
  const std::optional<FusedStages> fused = fused_stages(options);
  if (!fused) return add_pipeline_stages(shape, options, arena, stages);
  switch (*fused) {
    case FusedStages::kBlocks:
      return add_block_stages(shape, options, arena, stages);
    case FusedStages::kPaths:
      return add_semi_global_stages(shape, options, arena, stages);
    case FusedStages::kBeliefs:
      return add_belief_stages(shape, options, arena, stages);
  }
}

/// Adds the sizes of the patches of the result.
void add_patch_sizes(const PairShape& shape, int min_patch, Arena& arena, PairStages& stages) {
  PairResult& result = stages.result;
  if (result.of_planes || result.pitch != shape.width) {
    auto* const map = arena.take<float>(shape.pixels());
    stages.refinement.push_back(
        {"map", [=](StageRun& run) {
           launch_export(result, {map, shape.width, shape.width, shape.height}, run.get());
         }});
    result = {.map = map, .pitch = shape.width};
  }
  result.labels = arena.take<int>(shape.pixels());
  result.sizes = arena.take<int>(shape.pixels());
  result.min_size = min_patch;
  stages.refinement.push_back({"patches", [=](StageRun& run) {
                                 queue_surface_sizes(result.map, shape.width, shape.height, min_patch,
                                                     result.labels, result.sizes, run.get());
                               }});
}

}  // namespace

PairStages PairMethod::operator()(Arena& arena) const {
  PairStages stages;
  add_method(shape, options, arena, stages);
  if (min_patch.value_or(0) > 1) add_patch_sizes(shape, *min_patch, arena, stages);
  return stages;
}

PairShape pair_shape(const PairProblem& problem) {
  const GreyPair& images = problem.images;
  return {images.left.width, images.left.height, !images.left16.empty()};
}

void PairStages::set_result(float* map, const PairShape& shape) {
  result = {.map = map, .pitch = shape.width};
  download = [=](Workspace& workspace) {
    Image<float> disparity(shape.width, shape.height);
    workspace.staging.download(map, shape.width, disparity.view(), workspace.stream);
    return disparity;
  };
}

PairGrey PairGrey::add(const PairShape& shape, bool words, Arena& arena, PairStages& stages) {
  PairGrey grey{};
  for (std::uint8_t*& image : grey.bytes) image = arena.take<std::uint8_t>(shape.pixels());
  if (words)
    for (std::uint16_t*& image : grey.words) image = arena.take<std::uint16_t>(shape.pixels());
  for (int i = 0; i < 2; ++i) stages.targets.grey[i] = grey.bytes[i];
  stages.targets.grey_pitch = shape.width;
  stages.uploads.push_back([grey](const PairProblem& problem, Workspace& workspace) {
    const auto send = [&](const auto& image, auto* device) {
      if (device) workspace.staging.upload(image, device, image.width, workspace.stream);
    };
    send(problem.images.left, grey.bytes[0]);
    send(problem.images.right, grey.bytes[1]);
    send(problem.images.left16, grey.words[0]);
    send(problem.images.right16, grey.words[1]);
  });
  return grey;
}

PairExecutor::PairExecutor(const PairMethod& method, Arena& arena)
    : shape_(method.shape), stages_(allocate(arena, method)) {
  if (stages_.side_by_side) side_ = std::make_unique<Side>();
}

void PairExecutor::upload_constants(Workspace& workspace) {
  for (const auto& upload : stages_.constants) upload(workspace);
}

void PairExecutor::upload(const PairProblem& problem, Workspace& workspace) {
  const auto fits = [&](const auto& image) {
    return image.width == shape_.width && image.height == shape_.height;
  };
  EXPECTS(fits(problem.images.left) && fits(problem.images.right));
  images_ = problem.images;
  upload_constants(workspace);
  for (const PairStages::Upload& upload : stages_.uploads) upload(problem, workspace);
}

void PairExecutor::queue(Workspace& workspace) const {
  const Stream& stream = workspace.stream;
  StageRun left{workspace, images_, stream, {}};
  StageRun right{workspace, images_, side_ ? side_->stream : stream, {}};
  queue_all(stages_.images, left);
  if (side_) {
    side_->begins.record(stream);
    RECON_CUDA_TRY(cudaStreamWaitEvent(right.get(), side_->begins.get(), 0));
  }
  queue_all(stages_.right, right);
  queue_all(stages_.left, left);
  if (side_) {
    side_->ends.record(right.stream);
    RECON_CUDA_TRY(cudaStreamWaitEvent(stream.get(), side_->ends.get(), 0));
  }
  queue_all(stages_.refinement, left);
}

void PairExecutor::queue(Workspace& workspace, const std::function<void(const char*)>& mark) const {
  StageRun with{workspace, images_, workspace.stream, {}};
  for (const auto* stages : {&stages_.images, &stages_.right, &stages_.left, &stages_.refinement})
    for (const PairStage& stage : *stages) {
      stage.queue(with);
      mark(stage.name);
    }
}

DisparityMap match_pair(const PairProblem& problem, Workspace& workspace) {
  check_pair(problem);
  PairExecutor executor({pair_shape(problem), problem.options}, workspace.arena);
  executor.upload(problem, workspace);
  executor.queue(workspace);
  return {executor.download(workspace)};
}

}  // namespace recon::cuda

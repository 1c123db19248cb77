#pragma once

#include <filesystem>
#include <string>

#include "predict/performance_model.hpp"
#include "session/options/method.hpp"
#include "session/options/options.hpp"
#include "session/plan/plan.hpp"

namespace recon {

/// The steps of a scene's run beside the matching itself. They are told like stages: by counts with a cost
/// each, calls = views, pixels = of all views, operations = pixels of each view times the views it is held
/// against.

/// Photos of one kind, read, undistorted and written.
struct PhotoKind {
  std::string extension = ".png";  ///< of the undistorted image: .png, .jpg or .jpeg
  bool turned = false;             ///< it is not the photo itself
  friend bool operator==(const PhotoKind&, const PhotoKind&) = default;
  friend auto operator<=>(const PhotoKind&, const PhotoKind&) = default;
};

/// Of several views together.
struct StepSize {
  double views = 0;
  double pixels = 0;   ///< of all views
  double against = 0;  ///< pixels of each view times the number of the others it meets, or of all its pairs
};

/// The size as it counts for work that is done `at_once` views side by side, each by one thread: a last round
/// of few views takes as long as a full one.
StepSize in_rounds(const StepSize& size, int at_once);

/// The same where each view's work is partly divided further: threads without a view wait for half of one.
StepSize with_waiting(const StepSize& size, int at_once);

/// @param size   see in_rounds
/// @param bytes  of the photo files, in rounds too
StageTask photos_task(const PhotoKind& kind, const StepSize& size, double bytes);

/// Depth maps without the matching: images made ready, filters, files.
/// @param lanes  views matched side by side
StageTask maps_task(Method method, const StepSize& size, int lanes);
StageTask check_task(const StepSize& size, int at_once);
/// The model of the undistorted images.
StageTask model_task(double views, double observations);
StageTask fusion_task(const StepSize& size, int spacing);

/// What a rehearsal is to be like.
struct Rehearsal {
  SessionOptions options;  ///< of the run whose steps are rehearsed
  PhotoKind photos;
  int lanes = 1;
  int threads = 1;
  std::size_t memory_limit = std::size_t{4} << 30;  ///< bytes; with little of it the scenes are smaller
};

/// Observations of all views together.
double observations_of(const Scene& scene);

/// Samples of images that a view's pairs are turned by, and pixels of the maps that they are carried back to.
/// @param channels  of the images, 1 or 3
double pair_samples(const ScenePlan& plan, int view, int channels);

/// Runs all steps on small scenes of its own, whose depths are known instead of matched, and notes their
/// times in the model in place of what it knew. A textured wall before a row of cameras; a third of the
/// depths is unknown and an eighth wrong.
/// @param folder  for the files of these scenes; what is written there is removed again
/// @throws OutputError where nothing can be written there
void rehearse_steps(const Rehearsal& rehearsal, const std::filesystem::path& folder, PerformanceModel& model);

}  // namespace recon

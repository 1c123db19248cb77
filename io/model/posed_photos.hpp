#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/file/input_file.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_builder.hpp"
#include "scene/scene.hpp"

namespace recon {

/// The motion of a 4x4 matrix of finite numbers, given row by row: a rotation R, a translation and the last
/// row 0 0 0 1, all of them times a number. Rounded digits are no fault: the rotation is made exact.
/// @throws InputError with `place` when R R^T differs from the identity by more than 0.001 in an element, for
/// a mirror, and for another last row
Pose rigid_pose(std::span<const double, 16> matrix, const FilePlace& place);

/// Builds the scene of a format that gives each photo a camera and a pose, and has no points: by the same
/// builder, hence with the same checks, as a COLMAP model.
class PosedPhotos {
 public:
  /// @param folder        that the names of the photos are relative to
  /// @param memory_limit  max bytes of the model
  PosedPhotos(std::filesystem::path folder, std::size_t memory_limit)
      : folder_(std::move(folder)), builder_(memory_limit) {}

  /// The size of a photo; nothing if it cannot be read: its view is then left out.
  std::optional<ImageSize> size_of(const View& view);

  /// Leaves out the view of a photo.
  void leave_out(const std::string& name, const std::string& reason);

  /// Adds a view, which may lack its id and camera. Equal cameras become one. A second view of the same photo
  /// is left out.
  /// @throws InputError with `place` as the reader of COLMAP models
  void add(View view, Camera camera, const FilePlace& place);

  /// The scene, views sorted by name; those that are left out are its unusable ones. A warning states what
  /// photos were there twice.
  /// @param file  name for messages
  /// @throws InputError when there is no view
  Scene finish(const std::string& file);

 private:
  using CameraKey = std::tuple<CameraModel, int, int, std::vector<double>>;
  /// The first view of a photo.
  struct FirstView {
    std::string photo;
    Pose pose;
    CameraKey camera;
    std::string place;
  };
  void note_duplicate(const FirstView& first, const FirstView& second, const std::string& name);

  std::filesystem::path folder_;
  ColmapBuilder builder_;
  std::map<CameraKey, std::uint32_t> camera_ids_;
  std::uint32_t views_ = 0;
  std::map<std::string, std::string> left_out_;  ///< names, and why
  std::map<std::string, FirstView> first_views_;
  std::string first_duplicate_;  ///< its place and that of the first view
  int duplicates_ = 0, contradicting_ = 0;
};

/// A photo or a mask that a model names by a path.
struct ModelFile {
  std::string name;   ///< for results: stays inside any folder
  std::string path;   ///< relative to the folder of the photos; ../NAME where it lies beside that folder
  bool found = true;  ///< false: the path is absolute, or the photos were moved, and it is not there
};

/// Finds a file that a model names by `stated`, with / or \ between the components: relative to `folder`, in
/// it or in its parent. An absolute path is of the machine that wrote the model: its last components are
/// looked for in the folder, as many as possible. A photo may lack its ending, see `find_image`.
/// @param moved  the folder is not the one that the model speaks of: relative paths are treated as absolute
/// ones
/// @throws InputError with `place` for a path that leads out of the parent, and as `check_relative_name`
ModelFile find_model_file(const std::filesystem::path& folder, const std::string& stated, bool moved,
                          const FilePlace& place);

}  // namespace recon

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "cli/scene_fixture.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"
#include "io/model/colmap_model.hpp"
#include "reconstruct/fuse.hpp"
#include "reconstruct/sweep.hpp"
#include "scene/camera.hpp"

namespace recon {

inline reconstruct::Camera camera_of(const Scene& scene, int view) {
  const Pinhole it = as_pinhole(scene.cameras[scene.views[view].camera]).value();
  return {it.fx, it.fy, it.cx, it.cy};
}

inline reconstruct::Pose pose_of(const Scene& scene, int view) {
  const Pose& it = scene.views[view].cam_from_world;
  reconstruct::Pose pose;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) pose.rotation[i][j] = it.rotation(i, j);
  pose.translation[0] = it.translation.x, pose.translation[1] = it.translation.y;
  pose.translation[2] = it.translation.z;
  return pose;
}

/// The small scene without points, its photos and what the program makes of it.
class ViewTest : public SceneTest {
 protected:
  ViewTest() {
    Scene model = this->model();
    model.points.clear();
    for (View& view : model.views) view.observations.clear();
    set_model(model);
    take_scene();
  }

  /// Reads the scene and its photos.
  void take_scene() {
    scene_ = this->model();
    photos_.clear();
    for (const View& view : scene_.views) photos_.push_back(read_image(scene() / "images" / view.name));
  }

  void run_program_on_scene(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command = {RECON_RECONSTRUCT, scene(), "--device", "cpu"};
    command.insert(command.end(), options.begin(), options.end());
    const Outcome outcome = run_program(folder(), command);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  int index_of(const std::string& name) const {
    const auto found = std::ranges::find(scene_.views, name, &View::name);
    return static_cast<int>(found - scene_.views.begin());
  }

  /// The sources of each view as the program chose them.
  std::vector<std::vector<int>> sources() const {
    std::vector<std::vector<int>> result(scene_.views.size());
    std::istringstream lines(content(dense() / "stereo/patch-match.cfg"));
    for (std::string view, list; std::getline(lines, view) && std::getline(lines, list);) {
      std::istringstream names(list);
      for (std::string name; std::getline(names >> std::ws, name, ',');)
        result[index_of(view)].push_back(index_of(name));
    }
    return result;
  }

  reconstruct::View view(int index) const {
    const Image<Rgb8>& photo = photos_[index];
    return {{photo.row(0), photo.width(), photo.height(), photo.pitch() * 3, reconstruct::PixelType::kRgb8},
            camera_of(scene_, index),
            pose_of(scene_, index),
            {}};
  }

  Image<float> depth_of_program(int index, const char* kind) const {
    return read_depth_map(dense() / "stereo/depth_maps" / (scene_.views[index].name + "." + kind + ".bin"));
  }

  const reconstruct::Device device_{
      {.device = "cpu", .threads = 2, .memory_limit = {}, .gpu_memory_limit = {}}};
  Scene scene_;
  std::vector<Image<Rgb8>> photos_;
};

inline testing::AssertionResult same_values(const reconstruct::Map<float>& map,
                                            const Image<float>& expected) {
  int known = 0;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x) {
      const float a = map(x, y), b = expected(x, y);
      known += std::isnan(a) ? 0 : 1;
      if (a != b && !(std::isnan(a) && std::isnan(b)))
        return testing::AssertionFailure() << "at " << x << ", " << y << ": " << a << " and " << b;
    }
  return known > map.width * map.height / 3 ? testing::AssertionSuccess()
                                            : testing::AssertionFailure() << known << " are known";
}

/// The message of the UsageError of a call.
template <class Call>
std::string fault_of(const Call& call) {
  try {
    call();
  } catch (const reconstruct::UsageError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace recon

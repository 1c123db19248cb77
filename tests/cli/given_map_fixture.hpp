#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/scene_fixture.hpp"
#include "core/image.hpp"
#include "io/map/map_files.hpp"

namespace recon {

inline const std::string kNames[] = {"view00", "view01", "view02", "view03", "view04"};

/// Each test has the maps of the program itself in own().
class GivenDepthMaps : public SceneTest {
 protected:
  GivenDepthMaps() {
    const Outcome outcome = run({"-o", own().string()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    fs::create_directories(maps());
  }

  /// With the defaults, which refine patches.
  Outcome run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {RECON_RECONSTRUCT, "--device", "cpu", scene().string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program(folder(), words);
  }
  Outcome fuse(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"--depth-maps", maps().string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  fs::path own() const { return folder() / "own"; }
  fs::path maps() const { return folder() / "maps"; }
  Image<float> own_map(const std::string& view) const {
    return read_depth_map(own() / "stereo/depth_maps" / (view + ".png.photometric.bin"));
  }
  std::string own_bytes(const std::string& view) const {
    return content(own() / "stereo/depth_maps" / (view + ".png.photometric.bin"));
  }
  void give_own_maps() const {
    for (const std::string& view : kNames) set_content(maps() / (view + ".bin"), own_bytes(view));
  }

  std::string own_cloud() const { return content(own() / "fused.ply"); }
  std::string cloud() const { return content(dense() / "fused.ply"); }
};

}  // namespace recon

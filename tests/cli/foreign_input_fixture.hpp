#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "cli/scene_fixture.hpp"
#include "io/model/format_writers.hpp"

namespace recon {

/// A scene whose photos and files are changed to what others have.
class ForeignInput : public SceneTest {
 protected:
  fs::path photo(const View& view) const { return scene() / "images" / view.name; }

  void restore_photos() const {
    fs::remove_all(scene());
    copy_scene(scene());
  }

  /// Replaces all photos by what `change` makes of them.
  void change_photos(const std::function<cv::Mat(const cv::Mat&)>& change) const {
    for (const View& view : model().views)
      cv::imwrite(photo(view).string(), change(cv::imread(photo(view).string(), cv::IMREAD_COLOR)));
  }

  /// Runs the scene to folder()/`output` and returns its cloud.
  std::string cloud_in(const char* output, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {scene().string(), "-o", (folder() / output).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = reconstruct(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string cloud = content(folder() / output / "fused.ply");
    EXPECT_GT(cloud.size(), 1000u);
    return cloud;
  }

  /// A mask of the photos that ignores a block.
  static cv::Mat block_mask(std::uint8_t ignored, std::uint8_t kept) {
    cv::Mat mask(72, 96, CV_8UC1, cv::Scalar(kept));
    mask(cv::Rect(30, 20, 25, 30)).setTo(cv::Scalar(ignored));
    return mask;
  }

  /// The scene as a transforms.json in folder()/`name`, with what `members` says of each photo.
  fs::path nerf_scene(const std::string& name, const std::function<std::string(const View&)>& members) const {
    const fs::path root = folder() / name;
    fs::create_directories(root);
    fs::copy(scene() / "images", root / "images");
    std::string text = nerf_text(model(), "images/");
    for (const View& view : model().views) {
      const std::string path = "\"images/" + view.name + "\"";
      text.insert(text.find(path) + path.size(), members(view));
    }
    set_content(root / "transforms.json", text);
    return root;
  }

  std::string cloud_of(const fs::path& root) const {
    const Outcome outcome = reconstruct({root.string()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return content(root / "dense/fused.ply");
  }
};

}  // namespace recon

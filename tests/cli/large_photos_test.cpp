// Photos of 12 million pixels on a CPU: the plan says what smaller images would take.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "cli/scene_fixture.hpp"
#include "core/duration.hpp"
#include "io/image/image_file.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::Not;

class LargePhotos : public SceneTest {
 protected:
  /// The small scene with photos of this size, which are of one colour: plans read their headers alone.
  LargePhotos() {
    ::setenv("XDG_CACHE_HOME", (folder() / "cache").c_str(), 1);
    Scene large = model();
    Camera& camera = large.cameras[0];
    for (double& parameter : camera.params) parameter *= kScale;
    camera.width *= kScale;
    camera.height *= kScale;
    for (View& view : large.views) {
      std::vector<Observation> scaled;
      for (const Observation& it : view.observations)
        scaled.push_back({{kScale * it.pixel.x, kScale * it.pixel.y}, it.point_id});
      view.observations = std::move(scaled);
    }
    set_model(large);
    const Image<std::uint8_t> photo(camera.width, camera.height, 128);
    write_image(folder() / "photo.png", photo.view());
    for (const View& view : large.views)
      fs::copy_file(folder() / "photo.png", scene() / "images" / view.name,
                    fs::copy_options::overwrite_existing);
  }

  std::vector<std::string> slow(const std::vector<std::string>& more, const char* planes = "1024") const {
    std::vector<std::string> words = {
        RECON_RECONSTRUCT, scene().string(), "--device", "cpu", "--threads", "1", "--planes", planes};
    if (std::ranges::find(more, "--quality") == more.end()) words.insert(words.end(), {"--quality", "high"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Outcome plan(const std::vector<std::string>& more, const char* planes = "1024") const {
    return run_program(folder(), slow(more, planes));
  }

  static constexpr int kScale = 42;  // 4032 x 3024 pixels
};

TEST_F(LargePhotos, ArePlannedBesideSmallerImages) {
  const auto time = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--dry-run", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return plan(arguments).json().at("scenes").at(0).at("seconds");
  };
  const auto large = time({}), smaller = time({"--max-image-size", "1600"});
  ASSERT_GT(large.at("total"), 1800);
  EXPECT_EQ(large.at("smaller_images").at("max_image_size"), 1600);
  const double predicted = large.at("smaller_images").at("total"), own = smaller.at("total");
  EXPECT_NEAR(predicted, own, 0.5) << "by the same model";
  EXPECT_LT(predicted, 0.5 * large.at("total").get<double>());
  EXPECT_FALSE(smaller.contains("smaller_images"));

  const std::string text = "--max-image-size 1600 would take about " + duration_text(own);
  const Outcome all = plan({"--dry-run"});
  EXPECT_THAT(all.out, HasSubstr("\n    " + text + "\n"));
  EXPECT_THAT(all.out, HasSubstr("4032x3024")) << "the plan is that of the photos";
  EXPECT_THAT(plan({"--dry-run", "--max-image-size", "1000"}).out, Not(HasSubstr("would take")));
  EXPECT_THAT(plan({"--dry-run"}, "16").out, Not(HasSubstr("would take"))) << "no long run";
}

TEST_F(LargePhotos, AreReducedAsThePlanSays) {
  const Outcome normal = plan({"--dry-run", "--quality", "normal"});
  EXPECT_THAT(normal.out,
              HasSubstr("\n  5 images are reduced to 1600 pixels; --quality high keeps their size\n"));
  EXPECT_THAT(normal.out, HasSubstr("  1600x1200  "));
  EXPECT_THAT(plan({"--dry-run"}).out, Not(HasSubstr("are reduced")));
}

TEST_F(LargePhotos, AreSaidToTakeLongAsTheRunBegins) {
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  Process process(folder(), slow({}));
  while (process.running() && std::chrono::steady_clock::now() < latest &&
         content(dense() / "report.log").find("would take") == std::string::npos)
    usleep(20000);
  EXPECT_TRUE(process.running());
  process.send(SIGINT);
  const Outcome stopped = process.wait();
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_THAT(
      stopped.err,
      testing::ContainsRegex("about [0-9.]+ (min|h) are predicted; --max-image-size 1600 would take about"));
}

}  // namespace
}  // namespace recon

// Priors of the public call that fuses depth maps: what it makes of them is what the program makes of
// --prior-maps, bit for bit.

#include <gmock/gmock.h>

#include <random>

#include "api/view_fixture.hpp"
#include "io/cloud/ply.hpp"

namespace recon {
namespace {

using reconstruct::Options;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

reconstruct::MapView<float> view_of(const Image<float>& map) {
  return {map.row(0), map.width(), map.height(), map.pitch() * static_cast<std::ptrdiff_t>(sizeof(float))};
}

/// Plain walls, and what a network would see of them.
class FusePriors : public ViewTest {
 protected:
  FusePriors() {
    fs::remove_all(scene());
    const Outcome rendered = run_program(
        folder(),
        {RECON_RENDER, RECON_SOURCE_DIR "/tests/cli/data/plain_scene.json", scene().string(), "--quiet"});
    EXPECT_EQ(rendered.exit_code, 0) << rendered.err;
    take_scene();
    fs::create_directories(priors());
    for (int i = 0; i < std::ssize(photos_); ++i) {
      const Image<float> truth =
          read_depth_map(scene() / "gt_depth" / fs::path(name(i)).replace_extension(".bin"));
      Image<float> prior(truth.width(), truth.height());
      for (int y = 0; y < prior.height(); ++y)
        for (int x = 0; x < prior.width(); ++x)
          prior(x, y) = (1 + 0.3f * static_cast<float>(i)) *
                        (1 / (truth(x, y) * (1 + 0.05f * std::sin(0.01f * static_cast<float>(x)))) + 0.1f);
      priors_.push_back(std::move(prior));
    }
  }

  fs::path priors() const { return folder() / "priors"; }
  const std::string& name(int view) const { return scene_.views[view].name; }

  void write_priors() const {
    for (int i = 0; i < std::ssize(priors_); ++i) write_pfm(priors() / (name(i) + ".pfm"), priors_[i].view());
  }

  /// Without planes of the scene, which `fuse` does not search; with the priors of the files.
  void run_program_with_priors(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--scene-planes", "0", "--prior-maps", priors().string()});
    run_program_on_scene(more);
  }

  /// What the program has estimated, with the priors.
  std::vector<reconstruct::FusionView> views() {
    std::vector<reconstruct::FusionView> result;
    const auto chosen = sources();
    for (int i = 0; i < std::ssize(photos_); ++i) {
      depths_.push_back(depth_of_program(i, "photometric"));
      confidences_.push_back(
          read_confidence_map(dense() / "stereo/confidence_maps" / (name(i) + ".photometric.png")));
    }
    for (int i = 0; i < std::ssize(photos_); ++i)
      result.push_back({.depth = view_of(depths_[i]),
                        .camera = camera_of(scene_, i),
                        .cam_from_world = pose_of(scene_, i),
                        .confidence = view_of(confidences_[i]),
                        .colour = view(i).image,
                        .sources = chosen[i],
                        .prior = view_of(priors_[i])});
    return result;
  }

  void expect_result_of_program(const reconstruct::Fusion& fusion) const {
    for (int i = 0; i < std::ssize(photos_); ++i)
      EXPECT_TRUE(same_values(fusion.checked[i].depth, depth_of_program(i, "geometric"))) << i;
    const PlyCloud cloud = read_ply(dense() / "fused.ply");
    ASSERT_EQ(fusion.cloud.points.size(), cloud.positions.size());
    ASSERT_GT(cloud.positions.size(), 1000u);
    for (std::size_t i = 0; i < cloud.positions.size() && !HasFailure(); ++i)
      EXPECT_EQ(static_cast<float>(fusion.cloud.points[i].position[2]),
                static_cast<float>(cloud.positions[i].z));
  }

  std::vector<Image<float>> priors_, depths_, confidences_;
};

TEST_F(FusePriors, AreUsedAsTheProgramUsesThem) {
  write_priors();
  run_program_with_priors();
  std::vector<reconstruct::FusionView> given = views();
  const reconstruct::Fusion fusion = fuse(device_, given);
  EXPECT_THAT(fusion.warnings, IsEmpty());
  expect_result_of_program(fusion);
  for (reconstruct::FusionView& view : given) view.prior = {};
  EXPECT_LT(fuse(device_, given).cloud.points.size(), fusion.cloud.points.size() - 500) << "none are used";
}

TEST_F(FusePriors, OfDistancesAndOfSomeViews) {
  write_priors();
  for (const int without : {1, 3}) fs::remove(priors() / (name(without) + ".pfm"));
  run_program_with_priors({"--prior-kind", "distance", "--max-hole", "3"});
  std::vector<reconstruct::FusionView> given = views();
  for (const int without : {1, 3}) given[without].prior = {};
  expect_result_of_program(fuse(device_, given, {{"prior-kind", "distance"}, {"max-hole", "3"}}));
}

TEST_F(FusePriors, HaveConfidences) {
  write_priors();
  std::vector<Image<float>> sure;
  for (int i = 0; i < std::ssize(priors_); ++i) {
    sure.emplace_back(priors_[i].width() / 2, priors_[i].height() / 2);
    for (int y = 0; y < sure[i].height(); ++y)
      for (int x = 0; x < sure[i].width(); ++x)
        sure[i](x, y) = x < 20 ? 0.0f : 0.016f * static_cast<float>(x);
    write_pfm(priors() / (name(i) + "_confidence.pfm"), sure[i].view());
  }
  run_program_with_priors();
  std::vector<reconstruct::FusionView> given = views();
  const std::size_t sure_of_all = fuse(device_, given).cloud.points.size();
  for (int i = 0; i < std::ssize(given); ++i) given[i].prior_confidence = view_of(sure[i]);
  const reconstruct::Fusion fusion = fuse(device_, given);
  expect_result_of_program(fusion);
  EXPECT_NE(fusion.cloud.points.size(), sure_of_all);
}

TEST_F(FusePriors, OfSomethingElseChangeNothingAndAreNamed) {
  run_program_on_scene({"--scene-planes", "0"});
  std::mt19937 random(1);
  for (Image<float>& prior : priors_)
    for (int y = 0; y < prior.height(); ++y)
      for (int x = 0; x < prior.width(); ++x) prior(x, y) = static_cast<float>(1 + random() % 97);
  const reconstruct::Fusion fusion = fuse(device_, views());
  EXPECT_THAT(fusion.warnings, ElementsAre(AllOf(HasSubstr("the priors of 5 of 5 views are not used"),
                                                 HasSubstr("such as view 0"))));
  expect_result_of_program(fusion);
}

TEST_F(FusePriors, SayWhatIsWrong) {
  run_program_on_scene({"--stage", "estimate"});
  std::vector<reconstruct::FusionView> given = views();
  const auto fault = [&](const Options& options) { return fault_of([&] { fuse(device_, given, options); }); };
  EXPECT_THAT(fault({{"prior-kind", "disparity"}}), HasSubstr("--prior-kind is 'disparity'; it can be"));
  EXPECT_THAT(fault({{"scene-planes", "3"}}),
              HasSubstr("--scene-planes has no effect on the results of fuse"));
  EXPECT_THAT(fault({{"prior-maps", "x"}}), HasSubstr("--prior-maps has no meaning for fuse"));
  const Image<float> other(90, 120, 1.0f);
  given[1].prior = view_of(other);
  EXPECT_THAT(fault({}),
              HasSubstr("the prior of view 1 has 90x120 pixels and the depth map 120x90; it must"));
  given[1].prior = given[0].prior;
  given[1].prior_confidence = view_of(other);
  EXPECT_THAT(fault({}), HasSubstr("the confidence of the prior of view 1 has 90x120 pixels"));
  given[1].prior = {};
  EXPECT_THAT(fault({}), HasSubstr("view 1 has confidences of a prior, and no prior"));
  given[1].prior_confidence = {};
  for (reconstruct::FusionView& view : given) view.prior = {};
  EXPECT_THAT(fault({{"prior-kind", "depth"}}),
              HasSubstr("--prior-kind has a meaning where views have priors"));
}

}  // namespace
}  // namespace recon

// The methods that match rectified pairs, on a scene of several views.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/scene_fixture.hpp"
#include "io/cloud/ply.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

class ReconstructPairMethod : public SceneTest {
 protected:
  nlohmann::json report() const { return nlohmann::json::parse(content(dense() / "report.json")); }
};

TEST_F(ReconstructPairMethod, MakesACloudOfAScene) {
  for (const std::string method : {"sgm", "bp", "bm"}) {
    const Outcome outcome = reconstruct({scene().string(), "--method", method});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_GT(read_ply(dense() / "fused.ply").positions.size(), 100u) << method;
    EXPECT_THAT(content(dense() / "options.toml"), HasSubstr("method=\"" + method + "\""));
    const nlohmann::json view = report().at("views").at(0);
    EXPECT_FALSE(view.contains("planes"));
    EXPECT_GT(view.at("disparities"), 10);
    EXPECT_GE(view.at("pairs").size(), 2u);
    EXPECT_GT(view.at("pairs").at(0).at("width"), 50);
  }
}

TEST_F(ReconstructPairMethod, APipelineMakesACloudOfASceneToo) {
  for (const std::vector<std::string>& stages : std::vector<std::vector<std::string>>{
           {"--preset", "ad-census"}, {"--method", "pipeline", "--aggregation", "cross"}}) {
    std::vector<std::string> arguments = {scene().string()};
    arguments.insert(arguments.end(), stages.begin(), stages.end());
    const Outcome outcome = reconstruct(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_GT(read_ply(dense() / "fused.ply").positions.size(), 100u) << stages[1];
    const std::string options = content(dense() / "options.toml");
    EXPECT_THAT(options, HasSubstr("method=\"pipeline\""));
    EXPECT_THAT(options, HasSubstr("aggregation=\"cross\""));
    const Outcome again = reconstruct({scene().string(), "--config", (dense() / "options.toml").string()});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("depth maps: 5 of 5 views are finished and kept"));
    EXPECT_EQ(content(dense() / "options.toml"), options);
  }
}

TEST_F(ReconstructPairMethod, PlansWithoutWork) {
  const Outcome outcome = reconstruct({scene().string(), "--method", "sgm", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("disparities"));
  EXPECT_THAT(outcome.out, HasSubstr("memory: up to"));
  EXPECT_FALSE(std::filesystem::exists(dense()));
}

TEST_F(ReconstructPairMethod, GivesTheSameBytesForAnyNumberOfThreads) {
  ASSERT_EQ(reconstruct({scene().string(), "--method", "sgm", "--threads", "1"}).exit_code, 0);
  const auto other = folder() / "other";
  ASSERT_EQ(
      reconstruct({scene().string(), "--method", "sgm", "--threads", "3", "-o", other.string()}).exit_code,
      0);
  EXPECT_TRUE(same_results(results(dense()), results(other)));
}

TEST_F(ReconstructPairMethod, ShardsAddUpToTheWhole) {
  const auto shards = folder() / "shards";
  for (const char* shard : {"1/2", "2/2"})
    ASSERT_EQ(reconstruct({scene().string(), "--method", "bm", "--stage", "estimate", "--shard", shard, "-o",
                           shards.string()})
                  .exit_code,
              0);
  ASSERT_EQ(
      reconstruct({scene().string(), "--method", "bm", "--stage", "fuse", "-o", shards.string()}).exit_code,
      0);
  ASSERT_EQ(reconstruct({scene().string(), "--method", "bm"}).exit_code, 0);
  EXPECT_TRUE(same_results(results(dense()), results(shards)));
}

TEST_F(ReconstructPairMethod, RefusesAViewInFrontOfAllOthers) {
  Scene model = this->model();
  // All cameras in a row along their direction of view.
  for (std::size_t i = 1; i < model.views.size(); ++i) {
    model.views[i].cam_from_world = model.views[0].cam_from_world;
    model.views[i].cam_from_world.translation.z -= 0.3 * static_cast<double>(i);
  }
  set_model(model);
  const Outcome outcome = reconstruct(
      {scene().string(), "--method", "sgm", "--min-angle", "0.01", "--depth-min", "1", "--depth-max", "6"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("along the direction of view"));
}

}  // namespace
}  // namespace recon

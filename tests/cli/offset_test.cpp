// The cloud of a scene in map coordinates, less an offset.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "cli/scene_fixture.hpp"
#include "io/cloud/naive_tiles.hpp"
#include "io/cloud/ply.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class OffsetCloud : public SceneTest {
 protected:
  OffsetCloud() { move_model(kFarAway); }

  Outcome run(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {scene().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return reconstruct(arguments);
  }
  std::string header() const { return content(dense() / "fused.ply").substr(0, 300); }
  fs::path text() const { return dense() / "fused.offset.txt"; }

  static constexpr Vec3d kFarAway{412345.5, 5180034.25, -1720};
};

TEST_F(OffsetCloud, IsInFloatsAndSaysWhatIsToBeAdded) {
  ASSERT_EQ(run({"-o", (folder() / "plain").string()}).exit_code, 0);
  ASSERT_FALSE(fs::exists(folder() / "plain/fused.offset.txt"));
  const PlyCloud plain = read_ply(folder() / "plain/fused.ply");
  EXPECT_THAT(content(folder() / "plain/fused.ply").substr(0, 300),
              AllOf(HasSubstr("property double x"), Not(HasSubstr("offset"))));

  const Outcome outcome = run({"--offset", "auto", "--tile", "1", "--export-points", "200"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(" is subtracted from the coordinates of the cloud"));
  EXPECT_THAT(header(), HasSubstr("property float x"));
  const NaiveCloud cloud(dense() / "fused.ply");
  for (int axis = 0; axis < 3; ++axis) {
    const double middle = axis == 0   ? kFarAway.x
                          : axis == 1 ? kFarAway.y
                                      : kFarAway.z,
                 offset = cloud.offset[axis];
    EXPECT_LT(std::abs(middle - offset), 600) << "floats have to suffice";
    EXPECT_EQ(std::fmod(offset, 100), 0) << offset << " is no round number";
  }
  std::istringstream lines(content(text()));
  std::array<double, 3> said{};
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('#')) std::istringstream(line) >> said[0] >> said[1] >> said[2];
  EXPECT_EQ(said, cloud.offset);
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  EXPECT_EQ(report.at("offset"), cloud.offset);

  // Whoever reads it has the coordinates of the scene again.
  const PlyCloud again = read_ply(dense() / "fused.ply");
  ASSERT_EQ(again.positions.size(), plain.positions.size());
  for (std::size_t i = 0; i < plain.positions.size(); ++i)
    EXPECT_LT(norm(again.positions[i] - plain.positions[i]), 1e-4);
  EXPECT_EQ(content(dense() / "fused.ply.vis"), content(folder() / "plain/fused.ply.vis"));
  EXPECT_EQ(content(dense() / "sparse/images.bin"), content(folder() / "plain/sparse/images.bin"));
  const Outcome same =
      run_program(folder(), {RECON_EVALUATE, "cloud", (dense() / "fused.ply").string(), "--reference",
                             (folder() / "plain/fused.ply").string(), "--thresholds", "0.001", "--json"});
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(same.json().at("scores").at(0).at("f1"), 1.0) << same.out;

  expect_divided(dense() / "fused.ply", dense() / "tiles", 1);
  for (const auto& [name, bytes] : files_below(dense() / "tiles"))
    EXPECT_THAT(name, testing::MatchesRegex("4123[0-9]+_51800[0-9]+.ply"));

  // The exported model has it too: in floats, which trainers have, its cameras would be anywhere.
  const Scene model = read_colmap_model(dense() / "splat/sparse/0"),
              views = read_colmap_model(dense() / "sparse");
  const Vec3d offset{said[0], said[1], said[2]};
  for (std::size_t i = 0; i < views.views.size(); ++i)
    EXPECT_LT(norm(camera_centre(model.views[i].cam_from_world) + offset -
                   camera_centre(views.views[i].cam_from_world)),
              1e-6);
  for (const SparsePoint& point : model.points) {
    const bool there = std::ranges::any_of(again.positions,
                                           [&](Vec3d p) { return norm(p - point.position - offset) < 1e-6; });
    EXPECT_TRUE(there);
  }
}

TEST_F(OffsetCloud, IsMadeAgainWithAnotherOffsetOnly) {
  ASSERT_EQ(run({"--offset", "412000,5180000,-1700.5"}).exit_code, 0);
  EXPECT_THAT(header(), HasSubstr("\ncomment offset 412000 5180000 -1700.5\n"));
  EXPECT_THAT(content(text()), HasSubstr("\n412000 5180000 -1700.5\n"));
  EXPECT_THAT(content(dense() / "options.toml"), HasSubstr("offset=\"412000,5180000,-1700.5\"\n"));
  const Outcome kept = run({"--offset", "412000,5180000,-1700.5"});
  EXPECT_THAT(kept.err, HasSubstr("the cloud is finished and kept"));
  const Outcome other = run({"--offset", "auto"});
  EXPECT_THAT(other.err,
              AllOf(HasSubstr("5 of 5 views are finished and kept"),
                    HasSubstr("the stale cloud is made again: --offset 412000,5180000,-1700.5 -> ")));
  fs::resize_file(text(), 5);
  EXPECT_THAT(run({"--offset", "auto"}).err, HasSubstr("fused.offset.txt is not as it was written"));
  ASSERT_EQ(run({}).exit_code, 0);
  EXPECT_FALSE(fs::exists(text()));
  EXPECT_THAT(header(), AllOf(HasSubstr("property double x"), Not(HasSubstr("offset"))));
}

TEST_F(OffsetCloud, LeavesAFileOfTheUserAlone) {
  fs::create_directories(dense());
  set_content(text(), "mine");
  const Outcome refused = run({"--offset", "auto", "--overwrite"});
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr(text().string() + ": reconstruct did not write this file"));
  ASSERT_EQ(run({"--overwrite"}).exit_code, 0);
  ASSERT_EQ(run({"--min-fused-views", "3"}).exit_code, 0);
  EXPECT_EQ(content(text()), "mine");
}

TEST_F(OffsetCloud, NeedsNoneNearTheOriginAndNumbersElsewhere) {
  move_model(-1.0 * kFarAway);
  ASSERT_EQ(run({"--offset", "auto"}).exit_code, 0);
  EXPECT_THAT(header(), AllOf(HasSubstr("property float x"), Not(HasSubstr("offset"))));
  EXPECT_FALSE(fs::exists(text()));
  for (const std::vector<std::string>& same : {std::vector<std::string>{}, {"--offset", "0,0,0"}})
    EXPECT_THAT(run(same).err, HasSubstr("the cloud is finished and kept")) << "it has the same coordinates";
  for (const char* text : {"1,2", "x", "1,2,nan", "1,2,3,4"}) {
    const Outcome outcome = run({"--offset", text});
    EXPECT_EQ(outcome.exit_code, 2) << text;
    EXPECT_THAT(outcome.err, HasSubstr("--offset is '" + std::string(text) + "'; write auto, or X,Y,Z"))
        << text;
  }
}

}  // namespace
}  // namespace recon

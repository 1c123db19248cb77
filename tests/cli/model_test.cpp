// Models as users have them: far from the origin, edited by hand, written by other programs, larger than the
// memory limit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "cli/scene_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

constexpr Vec3d kFarAway{412345, 5651234, 120};

class ReconstructModel : public SceneTest {
 protected:
  fs::path sparse(const std::string& file) const { return scene() / "sparse" / file; }

  /// The two lines of the n-th view in images.txt.
  std::string lines_of_view(std::size_t n) const {
    const std::string text = content(sparse("images.txt"));
    std::size_t begin = 0;
    while (text[begin] == '#') begin = text.find('\n', begin) + 1;
    for (std::size_t line = 0; line < 2 * n; ++line) begin = text.find('\n', begin) + 1;
    return text.substr(begin, text.find('\n', text.find('\n', begin) + 1) + 1 - begin);
  }

  void replace_in(const fs::path& file, const std::string& old_text, const std::string& new_text) const {
    std::string text = content(file);
    const std::size_t at = text.find(old_text);
    ASSERT_NE(at, std::string::npos) << old_text;
    set_content(file, text.replace(at, old_text.size(), new_text));
  }

  /// Observations without a point, which a model may have millions of.
  void add_observations(std::size_t each) const {
    Scene crowded = model();
    for (View& view : crowded.views)
      for (std::size_t i = 0; i < each; ++i)
        view.observations.push_back({{static_cast<double>(i % 96), static_cast<double>(i % 72)}, kNoPoint});
    set_model(crowded);
  }
};

TEST_F(ReconstructModel, FarFromTheOriginGivesTheSameCloud) {
  const fs::path near = folder() / "near", far = folder() / "far";
  ASSERT_EQ(reconstruct({scene().string(), "-o", near.string()}).exit_code, 0);
  move_model(kFarAway);
  const Outcome outcome = reconstruct({scene().string(), "-o", far.string()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(content(near / "fused.ply").substr(0, 500), HasSubstr("property float x"));
  EXPECT_THAT(content(far / "fused.ply").substr(0, 500), HasSubstr("property double x"));
  const PlyCloud expected = read_ply(near / "fused.ply"), moved = read_ply(far / "fused.ply");
  const auto count = static_cast<double>(expected.positions.size());
  ASSERT_GT(count, 300);
  EXPECT_NEAR(static_cast<double>(moved.positions.size()), count, 0.01 * count);
  // Depths are searched in floats of relative poses, which differ in the last bits: some pixel may fall to
  // another plane. Points are 0.08 apart.
  int same = 0;
  for (const Vec3d p : moved.positions)
    same += std::any_of(expected.positions.begin(), expected.positions.end(),
                        [&](Vec3d q) { return norm(p - kFarAway - q) < 1e-4; });
  EXPECT_GT(same, 0.98 * count);
}

TEST_F(ReconstructModel, ACameraWithAParameterThatIsNotFiniteCostsItsViewsAlone) {
  const std::string cameras = content(sparse("cameras.txt")), name = model().views[1].name;
  const std::string camera = cameras.substr(
      cameras.find("\n1 ") + 1, cameras.find('\n', cameras.find("\n1 ") + 1) - cameras.find("\n1 ") - 1);
  std::string damaged = "99" + camera.substr(1);
  damaged.replace(damaged.rfind(' ') + 1, std::string::npos, "nan\n");
  set_content(sparse("cameras.txt"), cameras + damaged);
  const std::string line = lines_of_view(1), head = line.substr(0, line.find(name) - 1);
  replace_in(sparse("images.txt"), head + " " + name, head.substr(0, head.rfind(' ')) + " 99 " + name);
  const Outcome outcome = reconstruct({scene().string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("warning: " + name + " is left out: "));
  EXPECT_THAT(outcome.err, HasSubstr("camera 99 has the parameter nan; it has to be a finite number"));
  EXPECT_GT(outcome.json().at("scenes").at(0).at("points"), 0);
}

TEST_F(ReconstructModel, ADoubledNameIsRefusedWhateverItIsWrittenAs) {
  const std::string lines = lines_of_view(0), name = model().views[0].name;
  std::string doubled = lines.substr(0, lines.find('\n') + 1) + "\n";
  doubled.replace(0, doubled.find(' '), "77");
  doubled.insert(doubled.find(name), ".//");
  set_content(sparse("images.txt"), content(sparse("images.txt")) + doubled);
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("images.txt:15: the image name \"" + name + "\" is there twice"));
}

TEST_F(ReconstructModel, NamesLoseComponentsThatSayNothing) {
  ASSERT_EQ(reconstruct({scene().string(), "-o", (folder() / "plain").string()}).exit_code, 0);
  const std::string name = model().views[0].name;
  replace_in(sparse("images.txt"), name, "././/" + name);
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  EXPECT_TRUE(same_results(results(dense()), results(folder() / "plain")));
}

TEST_F(ReconstructModel, TracksLoseViewsThatAreDeletedFromTheImages) {
  replace_in(sparse("images.txt"), lines_of_view(1), "");
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("points3D.txt:4: point 1 is seen by image 2, which the images file does not have"));
  EXPECT_THAT(outcome.err,
              testing::ContainsRegex("[0-9]+ such elements are ignored; if these views are to be used, "
                                     "export the whole model again"));
  EXPECT_THAT(content(dense() / "report.json"), HasSubstr("such elements are ignored"));
  EXPECT_EQ(read_colmap_model(dense() / "sparse").views.size(), 4u);
}

TEST_F(ReconstructModel, AnyNumberedModelWillDoAndTheLowestComesFirst) {
  fs::rename(scene() / "sparse", scene() / "model");
  for (const char* number : {"10", "2", "1"}) fs::create_directories(scene() / "sparse" / number);
  fs::copy(scene() / "model", scene() / "sparse/10");
  fs::copy(scene() / "model", scene() / "sparse/2");
  set_content(scene() / "sparse/10/images.txt", "no model");
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(ReconstructModel, TheCompleteFormatIsRead) {
  set_content(sparse("cameras.bin"), "");
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(ReconstructModel, ANewerFileOfTheFormatThatIsNotReadIsNamed) {
  const auto plan = [&] { return reconstruct({scene().string(), "--dry-run"}).err; };
  write_colmap_model(scene() / "sparse", model(), ColmapFormat::kBinary);
  const auto changed = [&](const char* file, int minutes) {
    fs::last_write_time(sparse(file),
                        fs::last_write_time(sparse("cameras.bin")) + std::chrono::minutes(minutes));
  };
  for (const char* file : {"cameras.txt", "images.txt", "points3D.txt"}) changed(file, -5);
  replace_in(sparse("cameras.txt"), "1 PINHOLE 96 72 ", "1 PINHOLE 96 72 9");
  changed("cameras.txt", -5);
  EXPECT_THAT(plan(), testing::Not(HasSubstr("is newer"))) << "the model that is read came later";
  changed("cameras.txt", 5);
  EXPECT_THAT(plan(), HasSubstr(sparse("cameras.txt").string() +
                                " is newer than cameras.bin, which is read in its place: "));
  write_colmap_model(scene() / "sparse", model(), ColmapFormat::kText);
  changed("cameras.txt", 5);
  EXPECT_THAT(plan(), testing::Not(HasSubstr("is newer"))) << "a conversion has the same cameras";
}

TEST_F(ReconstructModel, PosesOfFramesGiveTheSameCloudWhateverTheImagesSay) {
  const std::string frame = " 1 CAMERA 1 ";
  std::string rigs = "1 1 CAMERA 1\n", frames;
  Scene stale = model();
  for (const View& view : stale.views) {
    const std::string first_line = lines_of_view(view.id - 1);
    const std::size_t id = first_line.find(' '),
                      camera = first_line.rfind(' ', first_line.find(" " + view.name) - 1);
    frames += std::to_string(100 + view.id) + " 1" + first_line.substr(id, camera - id) + frame +
              std::to_string(view.id) + "\n";
  }
  ASSERT_EQ(reconstruct({scene().string(), "-o", (folder() / "plain").string()}).exit_code, 0);
  set_content(sparse("rigs.txt"), rigs), set_content(sparse("frames.txt"), frames);
  for (const char* file : {"rigs.bin", "frames.bin"})
    set_content(sparse(file), "of another format: not looked at");
  const Outcome same = reconstruct({scene().string(), "-o", (folder() / "same").string()});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.err, testing::Not(HasSubstr("warning")));
  for (View& view : stale.views) view.cam_from_world.translation.x += 1;
  set_model(stale);
  set_content(sparse("rigs.txt"), rigs), set_content(sparse("frames.txt"), frames);
  const Outcome outcome = reconstruct({scene().string(), "-o", (folder() / "stale").string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(content(folder() / "stale/report.json"), HasSubstr("so it is with 5 of 5 images"));
  for (const char* output : {"same", "stale"})
    EXPECT_TRUE(same_results(results(folder() / output), results(folder() / "plain"))) << output;
}

TEST_F(ReconstructModel, AViewWithoutAPoseIsLeftOutAndTheRestIsDone) {
  Scene less = model();
  const std::string name = less.views[4].name;
  std::string lines = lines_of_view(4);
  const std::size_t begin = lines.find(' ') + 1;
  lines.replace(begin, lines.find(' ', begin) - begin, "nan");
  replace_in(sparse("images.txt"), lines_of_view(4), lines);
  replace_in(sparse("points3D.txt"), "\n2 ", "\n2 nan ");
  std::string points = content(sparse("points3D.txt"));
  const std::size_t line = points.find("\n2 nan ") + 7, end = points.find(' ', line);
  set_content(sparse("points3D.txt"), points.erase(line, end - line + 1));
  const Outcome outcome = reconstruct({scene().string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(name + " is left out: "));
  EXPECT_THAT(outcome.err,
              HasSubstr("values that are not finite are left out: 1 points, 0 observations, 0 errors"));
  EXPECT_GT(read_ply(dense() / "fused.ply").positions.size(), 300u);
  EXPECT_EQ(read_colmap_model(dense() / "sparse").views.size(), 4u);
}

TEST_F(ReconstructModel, AByteOrderMarkIsSkipped) {
  for (const char* file : {"cameras.txt", "images.txt", "points3D.txt"}) {
    const std::string text = content(sparse(file));
    set_content(sparse(file), "\xEF\xBB\xBF" + text.substr(text.find("\n1 ") + 1));
  }
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(ReconstructModel, CountsTowardsTheMemoryLimit) {
  add_observations(400000);
  const auto limited = [&](std::size_t mebibytes) {
    const Outcome outcome = reconstruct(
        {scene().string(), "--threads", "2", "--memory-limit", std::to_string(mebibytes) + "MiB"});
    EXPECT_LE(outcome.peak_bytes >> 20, mebibytes);
    return outcome;
  };
  const Outcome refused_while_reading = limited(130);
  EXPECT_EQ(refused_while_reading.exit_code, 4) << refused_while_reading.err;
  EXPECT_THAT(refused_while_reading.err, HasSubstr("images.txt:"));
  EXPECT_THAT(refused_while_reading.err, HasSubstr("raise --memory-limit"));
  const Outcome refused_by_the_plan = limited(160);
  EXPECT_EQ(refused_by_the_plan.exit_code, 4) << refused_by_the_plan.err;
  EXPECT_THAT(refused_by_the_plan.err, HasSubstr("of it for the model"));
  EXPECT_EQ(limited(240).exit_code, 0);
}

TEST_F(ReconstructModel, FusesMapsInFilesWhereMemoryIsLimited) {
  const auto run = [&](const char* name, const char* limit) {
    return reconstruct({RECON_SOURCE_DIR "/scenes/demo", "--output", (folder() / name).string(), "--planes",
                        "16", "--optimizer", "winner", "--threads", "1", "--memory-limit", limit});
  };
  const Outcome free = run("free", "1GiB"), limited = run("limited", "115MiB");
  EXPECT_EQ(free.exit_code, 0) << free.err;
  EXPECT_THAT(free.err, testing::Not(HasSubstr("temporary files")));
  EXPECT_EQ(limited.exit_code, 0) << limited.err;
  EXPECT_THAT(limited.err, HasSubstr("temporary files"));
  EXPECT_LE(limited.peak_bytes, std::size_t{115} << 20);
  EXPECT_TRUE(same_results(results(folder() / "free"), results(folder() / "limited")));
}

}  // namespace
}  // namespace recon

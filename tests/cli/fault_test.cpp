// What goes wrong: exit code, message, and what is left behind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/scene_fixture.hpp"
#include "cli/small_disk.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ReconstructFault : public SceneTest {
 protected:
  /// Runs and expects an exit code and a message; standard output has to stay empty.
  void expect(int exit_code, const std::string& message, const std::vector<std::string>& arguments) const {
    const Outcome outcome = reconstruct(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  bool has_cloud() const { return fs::exists(dense() / "fused.ply"); }
};

/// OfScenes.WrongUsageIsRefused tests refusals that need no input files.
TEST_F(ReconstructFault, WrongUsageIsTwo) {
  const std::string s = scene().string();
  expect(2, "no input given", {});
  expect(2, "--windw", {s, "--windw", "7"});
  expect(2, "--window is 8; it must be odd", {s, "--window", "8"});
  expect(2, "--device is 'tpu'", {s, "--device", "tpu"});
  expect(2, "--device is 'cuda:x'", {s, "--device", "cuda:x"});
  expect(2, "is the scene itself", {s, "-o", s});
  EXPECT_FALSE(fs::exists(dense()));
}

TEST_F(ReconstructFault, AnOutputThatIsTheSceneIsRefusedBeforeDevicesAreLookedFor) {
  const Outcome outcome = reconstruct({scene().string(), "-o", scene().string()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, Not(HasSubstr("working on")));
}

TEST_F(ReconstructFault, HelpAndVersionAreNoFault) {
  const Outcome help = reconstruct({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  const Outcome full = reconstruct({"--help-all"});
  EXPECT_EQ(full.exit_code, 0);
  EXPECT_THAT(full.out, HasSubstr("[bp: 7, 1 to 1000]"));
  EXPECT_THAT(help.out, HasSubstr("Exit codes"));
  const Outcome version = reconstruct({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out,
              testing::MatchesRegex(
                  "reconstruct [0-9.]+ \\([-0-9a-z]+\\)\n(CUDA [0-9.]+, code for .*|without CUDA)\n"));
}

TEST_F(ReconstructFault, UnknownKeywordsInTheConfigurationAreTwo) {
  set_content(folder() / "good.toml", "window=5\nplanes=\"32\"\n");
  set_content(folder() / "bad.toml", "windwo=5\n");
  EXPECT_EQ(run_program(folder(), {RECON_RECONSTRUCT, scene().string(), "--device", "cpu", "--config",
                                   (folder() / "good.toml").string()})
                .exit_code,
            0);
  EXPECT_THAT(content(dense() / "options.toml"), HasSubstr("window=5"));
  expect(2, "windwo", {scene().string(), "--config", (folder() / "bad.toml").string()});
}

TEST_F(ReconstructFault, TheResolvedOptionsAreAConfiguration) {
  ASSERT_EQ(reconstruct({scene().string(), "--window", "7", "--speckle", "7"}).exit_code, 0);
  const std::string resolved = content(dense() / "options.toml");
  EXPECT_EQ(reconstruct({scene().string(), "--config", (dense() / "options.toml").string()}).exit_code, 0);
  EXPECT_EQ(content(dense() / "options.toml"), resolved);
}

TEST_F(ReconstructFault, TheResolvedOptionsOfEachOptimizerAreAConfiguration) {
  for (const char* optimizer : {"winner", "sgm"}) {
    ASSERT_EQ(reconstruct({scene().string(), "--optimizer", optimizer}).exit_code, 0);
    const std::string resolved = content(dense() / "options.toml");
    EXPECT_EQ(resolved.find("p2=") != std::string::npos, optimizer == std::string("sgm")) << resolved;
    const Outcome again = reconstruct({scene().string(), "--config", (dense() / "options.toml").string()});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(content(dense() / "options.toml"), resolved);
  }
}

TEST_F(ReconstructFault, TheResolvedOptionsOfStagesOverStoredCostsAreAConfiguration) {
  for (const std::vector<std::string>& stages : std::vector<std::vector<std::string>>{
           {"--planes", "auto"},
           {"--optimizer", "graphcut"},
           {"--optimizer", "winner", "--aggregation", "cross"},
           {"--optimizer", "sgm", "--aggregation", "cw", "--refine", "graphcut"},
           {"--optimizer", "sgm", "--p1", "100", "--refine", "edges"},
           {"--optimizer", "winner", "--aggregation", "none", "--refine", "graphcut", "--p1", "9"}}) {
    std::vector<std::string> arguments = {scene().string()};
    arguments.insert(arguments.end(), stages.begin(), stages.end());
    const Outcome first = reconstruct(arguments);
    ASSERT_EQ(first.exit_code, 0) << first.err;
    EXPECT_THAT(first.err, HasSubstr("depth maps: 5 of 5 (100 %)"));
    const std::string resolved = content(dense() / "options.toml");
    const Outcome again = reconstruct({scene().string(), "--config", (dense() / "options.toml").string()});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("depth maps: 5 of 5 views are finished and kept")) << stages[1];
    EXPECT_EQ(content(dense() / "options.toml"), resolved);
  }
  expect(2, "for --method planesweep it can be none, or a list of graphcut, edges, patches, smooth and prior",
         {scene().string(), "--overwrite", "--refine", "lr"});
}

TEST_F(ReconstructFault, AMissingSceneIsThree) {
  expect(3, "there is no such file or folder", {(folder() / "nowhere").string()});
  expect(3, "/scene/sparse is a part of the scene ", {folder().string() + "/scene/sparse"});
  fs::remove_all(scene() / "sparse/images.txt");
  expect(3, "it has no folder images/", {folder().string() + "/scene/sparse"});
  fs::create_directories(folder() / "photos");
  fs::copy(scene() / "images/view00.png", folder() / "photos/IMG_1.PNG");
  expect(3, "it holds photos and no cameras", {(folder() / "photos").string()});
  fs::copy(scene() / "images/view01.png", folder() / "photos/right.png");
  expect(3, "it holds two images and no cameras; those of a rectified pair are given as LEFT RIGHT",
         {(folder() / "photos").string()});
}

TEST_F(ReconstructFault, AResultIsNoScene) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  expect(3,
         "is a part of the results in " + dense().string() + ": give the scene or the pair that they are of",
         {(dense() / "stereo").string()});
}

TEST_F(ReconstructFault, AFolderWithoutCamerasAboveAScene) {
  fs::create_directories(folder() / "above/images");
  fs::copy(scene(), folder() / "above/below", fs::copy_options::recursive);
  const Outcome outcome = reconstruct({(folder() / "above").string(), "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr((folder() / "above").string() + ": this is not a scene: it has no folder "
                                                        "sparse/ with the cameras"));
}

TEST_F(ReconstructFault, APhotoThatIsALinkToNowhereIsSaidOnce) {
  fs::remove(scene() / "images/view03.png");
  fs::create_symlink("/nowhere", scene() / "images/view03.png");
  const Outcome outcome = reconstruct({scene().string(), "--dry-run"});
  EXPECT_THAT(outcome.err, HasSubstr("view03.png"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("found by the end of their paths")));
  fs::create_directories(scene() / "images/sub");
  fs::copy(scene() / "images/view02.png", scene() / "images/sub/view03.png");
  EXPECT_THAT(reconstruct({scene().string(), "--dry-run"}).err,
              HasSubstr("found by the end of their paths, such as sub/view03.png for view03.png"));
}

TEST_F(ReconstructFault, ACorruptModelIsThreeWithFileAndLine) {
  set_content(scene() / "sparse/cameras.txt", "# a comment\n1 PINHOLE 96 72 not-a-number\n");
  expect(3, "cameras.txt:2", {scene().string()});
  EXPECT_FALSE(has_cloud());
}

TEST_F(ReconstructFault, ATruncatedModelIsThreeWithFileAndByte) {
  fs::remove_all(scene());
  render(scene(), {"--binary"});
  fs::resize_file(scene() / "sparse/images.bin", fs::file_size(scene() / "sparse/images.bin") - 3);
  expect(3, "images.bin: byte ", {scene().string()});
}

TEST_F(ReconstructFault, NamesThatLeadOutsideAreThree) {
  std::string images = content(scene() / "sparse/images.txt");
  images.replace(images.find("view01.png"), 10, "../../view01.png");
  set_content(scene() / "sparse/images.txt", images);
  expect(3, "../../view01.png", {scene().string()});
}

TEST_F(ReconstructFault, APoseThatIsNotANumberLeavesItsViewOutAndIsSeven) {
  std::string images = content(scene() / "sparse/images.txt");
  const std::size_t line_end = images.find(" 1 view00.png");
  ASSERT_NE(line_end, std::string::npos);
  const std::size_t last_number = images.rfind(' ', line_end - 1);
  images.replace(last_number + 1, line_end - last_number - 1, "nan");
  set_content(scene() / "sparse/images.txt", images);
  const Outcome outcome = reconstruct({scene().string(), "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("view00.png is left out"), HasSubstr("images.txt")));
}

TEST_F(ReconstructFault, AMissingPhotoLeavesItsViewOutAndIsSeven) {
  fs::remove(scene() / "images/view02.png");
  const Outcome outcome = reconstruct({scene().string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("view02.png is left out"));
  const auto result = outcome.json().at("scenes").at(0);
  EXPECT_EQ(result.at("views").size(), 4u);
  EXPECT_EQ(result.at("left_out").at(0).at("name"), "view02.png");
  for (const auto& view : result.at("views"))
    for (const auto& source : view.at("sources")) EXPECT_NE(source, "view02.png");
  EXPECT_TRUE(has_cloud());
}

TEST_F(ReconstructFault, UnreadablePhotosLeaveTheirViewsOutAndAreSeven) {
  set_content(scene() / "images/view01.png", "this is no image");
  render(folder() / "little", {"--width", "40", "--height", "30"});
  fs::copy_file(folder() / "little/images/view03.png", scene() / "images/view03.png",
                fs::copy_options::overwrite_existing);
  const Outcome outcome = reconstruct({scene().string(), "--min-fused-views", "2"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("view01.png is left out"));
  EXPECT_THAT(outcome.err, HasSubstr("40x30"));
  EXPECT_TRUE(has_cloud());
}

TEST_F(ReconstructFault, AnAbsentPhotoIsAmongTheWarningsOfTheReport) {
  fs::remove(scene() / "images/view03.png");
  const Outcome outcome = reconstruct({scene().string()});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  const auto warnings = nlohmann::json::parse(content(dense() / "report.json")).at("warnings");
  ASSERT_EQ(warnings.size(), 1u) << warnings;
  EXPECT_THAT(warnings[0].get<std::string>(), HasSubstr("view03.png is left out: "));
}

TEST_F(ReconstructFault, AllPhotosMissingIsThree) {
  fs::remove_all(scene() / "images");
  fs::create_directories(scene() / "images");
  expect(3, "none of the 5 photos", {scene().string()});
}

TEST_F(ReconstructFault, TooFewViewsIsThree) {
  Scene scene_model = model();
  scene_model.views.resize(1);
  scene_model.points.clear();
  for (View& view : scene_model.views) view.observations.clear();
  set_model(scene_model);
  expect(3, "too few views", {scene().string()});
}

TEST_F(ReconstructFault, NoOverlapIsThree) {
  Scene scene_model = model();
  scene_model.points.clear();
  scene_model.views.resize(2);
  for (View& view : scene_model.views) view.observations.clear();
  // Two cameras at one place: no depth can come of it.
  scene_model.views[1].cam_from_world = scene_model.views[0].cam_from_world;
  set_model(scene_model);
  expect(3, "no overlap", {scene().string()});
}

TEST_F(ReconstructFault, ViewsThatMatchNothingAreThree) {
  expect(3, "matches none of the 5 views; names look like view00.png\n",
         {scene().string(), "--views", "nothing*"});
  expect(3, "names look like view00.png, and a pattern like 'view03*'\n",
         {scene().string(), "--views", "view03"});
}

TEST_F(ReconstructFault, AnEmptyCloudIsThreeAndLeavesThatOfBefore) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  ASSERT_TRUE(has_cloud());
  const std::string cloud = content(dense() / "fused.ply");
  const std::vector<std::string> empty = {
      scene().string(), "--depth-min", "200", "--depth-max", "300", "--min-fused-views", "5"};
  expect(3, "the cloud is empty", empty);
  expect(3, "the cloud of an earlier run stays", empty);
  EXPECT_EQ(content(dense() / "fused.ply"), cloud);
  EXPECT_TRUE(fs::exists(dense() / "report.html"));
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  EXPECT_EQ(content(dense() / "fused.ply"), cloud);
}

/// The options of one run serve another scene, whose results go where they always go.
TEST_F(ReconstructFault, OptionsOfARunDoNotNameItsFolder) {
  const fs::path other = folder() / "other";
  ASSERT_EQ(reconstruct({scene().string(), "-o", other.string(), "--window", "7"}).exit_code, 0);
  EXPECT_THAT(content(other / "options.toml"), Not(HasSubstr("output")));
  ASSERT_EQ(reconstruct({scene().string(), "--config", (other / "options.toml").string()}).exit_code, 0);
  EXPECT_THAT(content(dense() / "options.toml"), HasSubstr("window=7"));
}

TEST_F(ReconstructFault, AnOutputThatIsAFileIsTwo) {
  const fs::path file = folder() / "file";
  set_content(file, "a file, not a folder");
  const std::string words = file.string() + ": the output folder is a file; choose another one with --output";
  expect(2, words, {scene().string(), "-o", file.string()});
  expect(2, words, {scene().string(), "-o", file.string(), "--dry-run"});
  expect(2, "cannot be made: " + file.string() + " is a file",
         {scene().string(), "-o", (file / "dense").string()});
  set_content(dense(), "a file, not a folder");
  expect(2, dense().string() + ": the output folder is a file", {scene().string()});
}

TEST_F(ReconstructFault, TooLittleMemoryIsFourBeforeTheWork) {
  expect(4,
         "the limit on memory is 50.0 MiB, and the program itself takes up to 96.0 MiB; raise --memory-limit",
         {scene().string(), "--memory-limit", "50MiB"});
  expect(4, "or --planes, or take --optimizer winner",
         {RECON_SOURCE_DIR "/scenes/demo", "-o", (folder() / "out").string(), "--planes", "2500",
          "--memory-limit", "98M"});
}

TEST_F(ReconstructFault, AMissingDeviceIsFive) {
  const Outcome outcome = reconstruct({scene().string(), "--device", "cuda:63"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("--device cuda:63"));
}

TEST_F(ReconstructFault, AMachineWithoutAGpuIsNone) {
  const Outcome outcome = run_in(folder(), "CUDA_VISIBLE_DEVICES= " RECON_RECONSTRUCT " scene --dry-run");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              testing::ContainsRegex("working on the CPU: (no NVIDIA GPU is found|this build has no CUDA)"));
}

TEST_F(ReconstructFault, QuietSaysNothingOfSuccess) {
  const Outcome outcome = reconstruct({scene().string(), "--quiet"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(ReconstructFault, ADiskTooSmallIsFoundBeforeTheWork) {
  const SmallDisk disk(folder() / "disk", "size=256k");
  if (!disk.mounted()) GTEST_SKIP() << "no tmpfs can be mounted: " << std::strerror(errno);
  const SmallDisk smaller(folder() / "smaller", "size=64k");
  const std::vector<std::string> of_scene = {scene().string(), "-o", (folder() / "disk/deep/dense").string()};
  const std::vector<std::string> of_pair = {(scene() / "images/view00.png").string(),
                                            (scene() / "images/view01.png").string(),
                                            "-o",
                                            (folder() / "smaller/dense").string(),
                                            "--method",
                                            "bm",
                                            "--max-disparity",
                                            "16"};
  for (std::vector<std::string> words : {of_scene, of_pair}) {
    expect(1, "are free", words);
    words.emplace_back("--dry-run");
    expect(1, "are free", words);
  }
}

TEST_F(ReconstructFault, TheDiskThatIsAskedForHoldsAllThatIsWritten) {
  const std::vector<std::string> words = {scene().string(),  "--json", "--tile",          "1",
                                          "--export-points", "100000", "--export-priors", "npy"};
  std::vector<std::string> dry = words;
  dry.push_back("--dry-run");
  const auto planned =
      reconstruct(dry).json().at("scenes").at(0).at("memory").at("output").get<std::size_t>();
  const Outcome outcome = reconstruct(words);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::size_t written = 0;
  for (const auto& [file, bytes] : files_below(dense())) written += bytes.size();
  EXPECT_TRUE(fs::exists(dense() / "splat/sparse/0/points3D.bin"));
  EXPECT_LE(written, planned);
}

TEST_F(ReconstructFault, ADiskThatFillsUpKeepsFinishedViews) {
  const SmallDisk disk(folder() / "disk", "size=4m");
  if (!disk.mounted()) GTEST_SKIP() << "no tmpfs can be mounted: " << std::strerror(errno);
  const fs::path output = folder() / "disk/dense";
  // The results fit by the estimate made before, and no longer when something else takes the space meanwhile.
  Process process(folder(),
                  command({scene().string(), "-o", output.string(), "--planes", "2500", "--threads", "1"}));
  while (!fs::exists(output / "status/estimate/view00.png.json")) {
    ASSERT_TRUE(process.running());
    usleep(2000);
  }
  set_content(folder() / "disk/filler", std::string(std::size_t{8} << 20, 'x'));
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the disk is full"));
  EXPECT_TRUE(fs::exists(output / "status/estimate/view00.png.json"));
  EXPECT_FALSE(fs::exists(output / "fused.ply"));
}

}  // namespace
}  // namespace recon

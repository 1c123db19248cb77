// Rectified pairs: what a run leaves behind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/held_lock.hpp"
#include "cli/pair_fixture.hpp"
#include "io/cloud/ply.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"

namespace recon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ReconstructPair : public PairTest {
 protected:
  bool exists(const std::string& name) const { return fs::exists(file(name)); }
};

TEST_F(ReconstructPair, WrongUsageIsSaidAlone) {
  write_images();
  const Outcome outcome = reconstruct({"left.png", "right.png"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, testing::AllOf(testing::StartsWith("error: "), HasSubstr("--max-disparity")));
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
}

TEST_F(ReconstructPair, TwoImagesGiveDisparitiesHere) {
  write_images();
  const Outcome outcome = match({});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("dense/disparity.pfm: 120x80, "));
  const Image<float> disparity = read_pfm(file("dense/disparity.pfm"));
  const Image<std::uint16_t> png = read_png16(file("dense/disparity.png"));
  EXPECT_NEAR(disparity(60, 40), kShift, 0.26);
  EXPECT_GT(known_of(file("dense/disparity.pfm")).share, 0.8);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const float d = disparity(x, y);
      EXPECT_EQ(png(x, y), std::isnan(d) ? 0 : std::max(1l, std::lround(256 * d))) << x << " " << y;
    }
  EXPECT_EQ(image_size(file("dense/preview.png")), (ImageSize{kWidth, kHeight}));
  for (const char* other : {"dense/depth.pfm", "dense/fused.ply", "dense/filled.png"})
    EXPECT_FALSE(exists(other));
  EXPECT_THAT(content(file("dense/options.toml")), HasSubstr("method=\"bm\"\n"));
  EXPECT_THAT(content(file("dense/report.html")), HasSubstr("left.png"));
}

TEST_F(ReconstructPair, ACalibrationGivesDepthAndACloud) {
  write_pair_folder("pair");
  const Outcome outcome = reconstruct({"pair", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto report = outcome.json().at("scenes").at(0);
  EXPECT_EQ(report.at("max_disparity"), 16);
  const auto& options = report.at("option_values");
  EXPECT_EQ(options.at("method"), "bm");
  EXPECT_EQ(options.at("uniqueness"), 10);
  EXPECT_EQ(options.at("fill"), false);
  EXPECT_EQ(report, nlohmann::json::parse(content(file("pair/dense/report.json"))));
  const Image<float> disparity = read_pfm(file("pair/dense/disparity.pfm")),
                     depth = read_pfm(file("pair/dense/depth.pfm"));
  std::size_t known = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      EXPECT_EQ(std::isnan(depth(x, y)), std::isnan(disparity(x, y)));
      if (std::isnan(depth(x, y))) continue;
      ++known;
      EXPECT_FLOAT_EQ(depth(x, y), 200 / (disparity(x, y) + 4));
    }
  const PlyCloud cloud = read_ply(file("pair/dense/fused.ply"));
  EXPECT_EQ(report.at("points"), cloud.positions.size());
  EXPECT_GT(cloud.positions.size(), known / 2);
  EXPECT_LE(cloud.positions.size(), known);
  // The plane at z = 200 / (6 + 4) = 20: the first and the last column are 59.5 px left and right of the
  // axis.
  double least = 1e9, most = -1e9;
  std::size_t on_plane = 0;
  for (const Vec3d& p : cloud.positions) {
    on_plane += std::abs(p.z - 20) < 1;
    least = std::min(least, p.x / p.z);
    most = std::max(most, p.x / p.z);
  }
  EXPECT_GT(on_plane, cloud.positions.size() * 9 / 10);
  EXPECT_LT(most, 0.595 + 1e-4);
  EXPECT_GT(least, -0.595 - 1e-4);
  EXPECT_NEAR(most, 0.595, 0.15);
}

TEST_F(ReconstructPair, FillGivesEveryPixelAValueAndSaysWhich) {
  write_pair_folder("pair");
  const Outcome outcome = reconstruct({"pair", "--fill"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(known_of(file("pair/dense/disparity.pfm")).share, 1.0);
  const Image<std::uint8_t> filled = read_grey_image(file("pair/dense/filled.png"));
  const std::uint64_t points = read_ply(file("pair/dense/fused.ply")).positions.size();
  std::size_t count = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      EXPECT_TRUE(filled(x, y) == 0 || filled(x, y) == 255);
      count += filled(x, y) == 255;
    }
  EXPECT_GT(count, 0u);
  EXPECT_LE(points, kWidth * kHeight - count) << "what was filled is no measurement";
  ASSERT_EQ(reconstruct({"pair"}).exit_code, 0);
  EXPECT_FALSE(exists("pair/dense/filled.png")) << "nothing of an earlier run may stay";
}

TEST_F(ReconstructPair, UnchangedResultsAreKept) {
  write_pair_folder("pair");
  ASSERT_EQ(reconstruct({"pair"}).exit_code, 0);
  const std::string before = content(file("pair/dense/disparity.pfm")),
                    cloud = content(file("pair/dense/fused.ply"));
  const Outcome kept = reconstruct({"pair"});
  EXPECT_EQ(kept.exit_code, 0);
  EXPECT_THAT(kept.err, HasSubstr("finished and kept"));
  EXPECT_THAT(kept.out, HasSubstr("kept"));
  const Outcome again = reconstruct({"pair", "--overwrite", "--threads", "1"});
  EXPECT_THAT(again.err, Not(HasSubstr("kept")));
  EXPECT_EQ(content(file("pair/dense/disparity.pfm")), before);
  EXPECT_EQ(content(file("pair/dense/fused.ply")), cloud);
  const Outcome other = reconstruct({"pair", "--max-disparity", "12"});
  EXPECT_THAT(other.err, HasSubstr("stale results are made again: --max-disparity 16 -> 12"));
  fs::resize_file(file("pair/dense/depth.pfm"), 100);
  const Outcome damaged = reconstruct({"pair", "--max-disparity", "12"});
  EXPECT_THAT(damaged.err, HasSubstr("depth.pfm is not as it was written"));
  write_image(file("pair/im0.png"), texture_pair(kWidth, kHeight, 0).right.view());
  fs::copy_file(file("pair/im0.png"), file("pair/im1.png"), fs::copy_options::overwrite_existing);
  EXPECT_THAT(reconstruct({"pair"}).err, HasSubstr("stale"));
}

TEST_F(ReconstructPair, FoldersOfPairsAreAllDoneAndOneFailureIsNotAll) {
  for (const char* name : {"session/a", "session/b", "session/c"}) write_pair_folder(name);
  set_content(file("session/b/calib.txt"), "cam0=[100 0 59.5; 0 100 nan; 0 0 1]\n");
  const Outcome outcome = reconstruct({"session", "-o", "out", "--json"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("calib.txt:1: cam0 is \"nan"));
  EXPECT_EQ(outcome.json().at("scenes").size(), 3u);
  EXPECT_TRUE(exists("out/a/disparity.pfm") && exists("out/c/fused.ply"));
  EXPECT_FALSE(exists("out/b/disparity.pfm"));
}

TEST_F(ReconstructPair, TheResolvedOptionsAreAConfiguration) {
  write_images();
  ASSERT_EQ(match({"--window", "7", "--uniqueness", "3"}).exit_code, 0);
  const std::string options = content(file("dense/options.toml"));
  EXPECT_THAT(options, HasSubstr("window=7\n"));
  EXPECT_THAT(options, Not(HasSubstr("paths")));
  const Outcome again = reconstruct({"left.png", "right.png", "--config", "dense/options.toml"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("kept"));
  EXPECT_EQ(content(file("dense/options.toml")), options);
}

TEST_F(ReconstructPair, DryRunPrintsThePlanAndWritesNothing) {
  write_pair_folder("pair");
  const Outcome text = reconstruct({"pair", "--dry-run"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("120x80, bm, disparities 0 to 15, with a calibration"));
  const auto plan = reconstruct({"pair", "--dry-run", "--json"}).json().at("scenes").at(0);
  EXPECT_GT(plan.at("memory").at("peak"), 1 << 20);
  EXPECT_THAT(text.out, HasSubstr("  to do: matching\n  memory: up to "));
  EXPECT_THAT(text.out, HasSubstr("time: matching about "));
  EXPECT_GT(plan.at("seconds").at("matching"), 0);
  EXPECT_FALSE(exists("pair/dense"));
}

TEST_F(ReconstructPair, PlansSayWhatIsKeptAndWhatIsReplaced) {
  write_pair_folder("pair");
  ASSERT_EQ(reconstruct({"pair"}).exit_code, 0);
  const Outcome kept = reconstruct({"pair", "--dry-run"});
  EXPECT_THAT(kept.out, testing::EndsWith("with a calibration: depth and cloud\n"
                                          "  to do: nothing, all is finished and kept\n"));
  const Outcome other = reconstruct({"pair", "--max-disparity", "12", "--dry-run"});
  EXPECT_THAT(other.out, HasSubstr("  to do: matching\n"
                                   "  in the place of earlier results: --max-disparity 16 -> 12\n"));
  EXPECT_THAT(reconstruct({"pair", "--overwrite", "--dry-run"}).out,
              HasSubstr("  to do: matching\n"
                        "  in the place of earlier results: --overwrite\n"));
}

TEST_F(ReconstructPair, AnyFileThatSomebodyHasChangedIsKept) {
  write_pair_folder("pair");
  const fs::path output = file("pair/dense");
  const auto files = [&] {
    std::vector<fs::path> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(output))
      if (entry.is_regular_file()) names.push_back(entry.path());
    return names;
  };
  const std::vector<std::vector<std::string>> runs = {
      {"pair", "--depth-png", "0.01"}, {"pair", "--depth-png", "0.01"}, {"pair", "--max-disparity", "12"}};
  ASSERT_EQ(reconstruct(runs[0]).exit_code, 0);
  const std::vector<fs::path> written = files();
  ASSERT_EQ(written.size(), 11u);  // results, reports and options
  ASSERT_EQ(reconstruct(runs[0]).exit_code, 0);
  EXPECT_EQ(files().size(), written.size()) << "nobody has changed a file";
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const std::string edit = "edit " + std::to_string(i), number = i == 1 ? "" : "-" + std::to_string(i);
    for (const fs::path& name : written) set_content(name, edit);
    const Outcome outcome = reconstruct(runs[i]);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(" has been changed since it was written: it is kept as "));
    for (fs::path name : written)
      EXPECT_EQ(content(name.replace_extension(".changed" + number + name.extension().string())), edit)
          << name;
  }
  // The result is kept.
  for (const char* name : {"report.json", "options.toml"}) set_content(output / name, "edit 3");
  const Outcome kept = reconstruct(runs[2]);
  EXPECT_THAT(kept.err, HasSubstr("the result is finished and kept"));
  for (const char* name : {"report.changed-3.json", "options.changed-3.toml"}) {
    EXPECT_EQ(content(output / name), "edit 3");
    EXPECT_THAT(content(output / "report.json"), HasSubstr(name));
  }
}

TEST_F(ReconstructPair, ACloudThatSomebodyHasChangedIsKept) {
  write_pair_folder("pair");
  ASSERT_EQ(reconstruct({"pair"}).exit_code, 0);
  const std::string made = content(file("pair/dense/fused.ply"));
  set_content(file("pair/dense/fused.ply"), "changed");
  const Outcome again = reconstruct({"pair", "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const std::string warning =
      "fused.ply has been changed since it was written: it is kept as fused.changed.ply";
  EXPECT_THAT(again.err, HasSubstr(warning));
  EXPECT_THAT(again.json().at("scenes").at(0).at("warnings").dump(), HasSubstr(warning));
  EXPECT_EQ(content(file("pair/dense/fused.changed.ply")), "changed");
  EXPECT_EQ(content(file("pair/dense/fused.ply")), made);
  EXPECT_THAT(reconstruct({"pair"}).err, Not(HasSubstr(warning)));
  set_content(file("pair/dense/fused.ply"), "changed, and other options");
  ASSERT_EQ(reconstruct({"pair", "--max-disparity", "12"}).exit_code, 0);
  EXPECT_EQ(content(file("pair/dense/fused.changed-2.ply")), "changed, and other options");
  EXPECT_EQ(content(file("pair/dense/fused.changed.ply")), "changed");
}

TEST_F(ReconstructPair, QuietSaysNothingOfSuccess) {
  write_images();
  const Outcome outcome = match({"--quiet"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(ReconstructPair, AnInterruptLeavesNothingHalfDone) {
  write_images(400, 300);
  const std::vector<std::string> arguments = {"left.png", "right.png", "--max-disparity", "32",
                                              "--method", "bp",        "--iterations",    "20"};
  Process process(folder(), command(arguments));
  while (!exists("dense/options.toml")) {
    ASSERT_TRUE(process.running());
    usleep(2000);
  }
  process.send(SIGINT);
  const Outcome stopped = process.wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_FALSE(exists("dense/disparity.pfm") || exists("dense/status/pair.json"));
  EXPECT_EQ(reconstruct(arguments).exit_code, 0);
}

TEST_F(ReconstructPair, AnInterruptEndsTheMatchingThatIsInWork) {
  using std::chrono::steady_clock;
  write_images(2000, 1500);
  // Each takes far longer than the time allowed for stopping.
  const std::vector<std::vector<std::string>> methods = {
      {"bp", "--max-disparity", "256", "--iterations", "50"},
      {"sgm", "--max-disparity", "1900"},
      {"bm", "--max-disparity", "1900", "--steps", "4"}};
  for (std::vector<std::string> words : methods) {
    const std::string output = words[0];
    words.insert(words.begin(), {"left.png", "right.png", "-o", output, "--threads", "2", "--method"});
    Process process(folder(), command(words));
    while (process.running() && !exists(output + "/options.toml")) usleep(2000);
    usleep(1500000);
    ASSERT_TRUE(process.running()) << output;
    const auto latest = steady_clock::now() + std::chrono::seconds(3);
    process.send(SIGINT);
    while (process.running() && steady_clock::now() < latest) usleep(2000);
    if (process.running()) process.send(SIGKILL);
    const Outcome stopped = process.wait();
    EXPECT_EQ(stopped.exit_code, 130) << output << ": " << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("interrupted"));
    auto left = files_below(file(output));
    std::erase_if(left, [](const auto& it) { return it.first.starts_with("status/"); });
    EXPECT_TRUE(left.size() == 1 && left[0].first == "options.toml") << output << " " << left.size();
  }
}

TEST_F(ReconstructPair, AnInterruptLeavesAllOfBefore) {
  write_images(2000, 1500);
  const std::vector<std::string> images = {"left.png", "right.png", "--method"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), images.begin(), images.end());
    return more;
  };
  ASSERT_EQ(reconstruct(with({"bm", "--max-disparity", "32"})).exit_code, 0);
  const auto outside_status = [&] {
    auto files = files_below(file("dense"));
    std::erase_if(files, [](const auto& it) { return it.first.starts_with("status/"); });
    return files;
  };
  const auto before = outside_status();
  Process process(folder(), command(with({"bp", "--max-disparity", "256", "--iterations", "50"})));
  const auto is_at_work = [&] {
    return content(folder() / "stderr.txt").find("stale results are made again") != std::string::npos;
  };
  while (process.running() && !is_at_work()) usleep(2000);
  usleep(300000);  // the matching takes far longer
  ASSERT_TRUE(process.running());
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_TRUE(outside_status() == before) << "a result has changed or is missing";
  EXPECT_THAT(reconstruct(with({"bm", "--max-disparity", "32"})).err,
              HasSubstr("the result is finished and kept"));
}

TEST_F(ReconstructPair, OverwriteThatDidNotBeginIsContinuedWithoutIt) {
  write_images();
  ASSERT_EQ(match({}).exit_code, 0);
  {
    const HeldLock lock(file("dense"), LOCK_EX);
    Process process(folder(), command({"left.png", "right.png", "--max-disparity", "32", "--method", "bm",
                                       "--overwrite", "--wait"}));
    while (process.running() && content(folder() / "stderr.txt").find("waiting for") == std::string::npos)
      usleep(5000);
    process.send(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 130);
  }
  ASSERT_TRUE(exists("dense/status/overwrite"));
  EXPECT_THAT(match({"--dry-run"}).out, HasSubstr("to do: matching"));
  EXPECT_THAT(match({}).err, Not(HasSubstr("finished and kept")));
  EXPECT_FALSE(exists("dense/status/overwrite"));
  EXPECT_THAT(match({}).err, HasSubstr("finished and kept"));
}

TEST_F(ReconstructPair, OfASmallRegionHasFewDisparitiesByRights) {
  write_images();
  const Outcome outcome = match({"--roi", "60,30,30,14"});  // 4.4 % of the pixels
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("warning")));
}

TEST_F(ReconstructPair, AFailureLeavesNothingOfBefore) {
  write_pair_folder("pair");
  ASSERT_EQ(reconstruct({"pair"}).exit_code, 0);
  set_content(file("pair/dense/fused.ply"), "changed");
  EXPECT_EQ(reconstruct({"pair", "--speckle", "1000000"}).exit_code, 3);
  EXPECT_EQ(content(file("pair/dense/fused.changed.ply")), "changed");
  for (const char* name : {"disparity.pfm", "depth.pfm", "fused.ply", "report.json", "status/pair.json"})
    EXPECT_FALSE(exists(std::string("pair/dense/") + name)) << name;
}

TEST_F(ReconstructPair, NegativeDisparitiesAreFoundAndSaidOfThePng) {
  write_images(kWidth, kHeight, -kShift);
  const Outcome outcome = match({"--min-disparity", "-16", "--max-disparity", "1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("disparity.png holds disparities from 0 to 255.99 px"));
  EXPECT_NEAR(known_of(file("dense/disparity.pfm")).median, -kShift, 0.26);
  EXPECT_EQ(read_png16(file("dense/disparity.png"))(60, 40), 0);
}

}  // namespace
}  // namespace recon

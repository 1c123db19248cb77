// Pairs with calibrations of other programs, and what is written in their units.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/pair_fixture.hpp"
#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The cameras of PairTest::write_pair_folder: f 100, offset 4, baseline 2.
class CalibratedPair : public PairTest {
 protected:
  void write_folder(const std::string& name, const std::string& file, const std::string& calibration) const {
    write_pair_folder(name);
    fs::remove(this->file(name + "/calib.txt"));
    set_content(this->file(name + "/" + file), calibration);
  }
  static std::string row(const char* key, const char* cx, const char* shift) {
    return std::string(key) + ": 100 0 " + cx + " " + shift + " 0 100 39.5 0 0 0 1 0\n";
  }
  static std::string matrix(const char* key, const char* cx, const char* shift) {
    return std::string(key) + ": !!opencv-matrix\n   rows: 3\n   cols: 4\n   dt: d\n   data: [ 100., 0., " +
           cx + ", " + shift + ", 0., 100.,\n       39.5, 0., 0., 0., 1., 0. ]\n";
  }
  nlohmann::json report(const std::string& output) const {
    return nlohmann::json::parse(content(file(output + "/report.json")));
  }

  const std::string opencv_ = "%YAML:1.0\n---\n" + matrix("P1", "59.5", "0.") + matrix("P2", "63.5", "-200.");
  const std::string kitti_ = row("P0", "59.5", "0") + row("P1", "63.5", "-200");
  const std::string realsense_ =
      R"({"infra1": {"fx": 100, "fy": 100, "ppx": 59.5, "ppy": 39.5, "width": 120, "height": 80},
          "infra2": {"fx": 100, "fy": 100, "ppx": 63.5, "ppy": 39.5}, "baseline_m": 2})";
};

TEST_F(CalibratedPair, WithAFileOfThatNameThatIsNoneIsMatchedWithout) {
  write_folder("other", "calibration.yml", "%YAML:1.0\n---\n" + matrix("K", "59.5", "0."));
  const std::vector<std::string> words = {"other", "--max-disparity", "16", "-o", "out"};
  const Outcome outcome = reconstruct(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_EQ(report("out").at("warnings").size(), 1u);
  EXPECT_THAT(report("out").at("warnings").at(0), HasSubstr("the pair is matched without a calibration"));
  EXPECT_FALSE(fs::exists(file("out/depth.pfm")));
  EXPECT_EQ(reconstruct({"other", "--max-disparity", "16", "--calibration", "calibration.yml"}).exit_code, 3);
}

TEST_F(CalibratedPair, OfEveryFormatGivesTheSameDepths) {
  write_pair_folder("middlebury", "ndisp=16\n");
  ASSERT_EQ(reconstruct({"middlebury", "-o", "expected"}).exit_code, 0);
  const std::string depth = content(file("expected/depth.pfm")), cloud = content(file("expected/fused.ply"));
  for (const auto& [format, name, text] :
       {std::tuple("OpenCV", "calib.yml", opencv_), std::tuple("KITTI", "calib.txt", kitti_),
        std::tuple("RealSense", "calib.json", realsense_)}) {
    SCOPED_TRACE(format);
    write_folder(format, name, text);
    const Outcome needs_range = reconstruct({format});
    EXPECT_EQ(needs_range.exit_code, 2);
    EXPECT_THAT(needs_range.err, HasSubstr("--max-disparity is needed"));
    const Outcome outcome = reconstruct({format, "--max-disparity", "16"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string dense = std::string(format) + "/dense";
    EXPECT_EQ(content(file(dense + "/depth.pfm")), depth);
    EXPECT_EQ(content(file(dense + "/fused.ply")), cloud);
    EXPECT_EQ(report(dense).at("calibration").at("format"), format);

    write_images();
    const Outcome two =
        match({"--calibration", std::string(format) + "/" + name, "-o", std::string("two_") + format});
    ASSERT_EQ(two.exit_code, 0) << two.err;
    EXPECT_EQ(content(file(std::string("two_") + format + "/depth.pfm")), depth);
  }
}

TEST_F(CalibratedPair, TakesTheFileThatIsNamed) {
  write_pair_folder("pair", "ndisp=16\n");
  set_content(file("pair/other.json"), realsense_.substr(0, realsense_.size() - 2) + "4}");
  ASSERT_EQ(reconstruct({"pair"}).exit_code, 0);
  const Image<float> depth = read_pfm(file("pair/dense/depth.pfm"));
  const Outcome other = reconstruct({"pair", "--calibration", "other.json", "--max-disparity", "16"});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("stale results are made again: another calibration"));
  const Image<float> twice = read_pfm(file("pair/dense/depth.pfm"));
  EXPECT_FLOAT_EQ(twice(60, 40), 2 * depth(60, 40));
  const Outcome none = reconstruct({"pair", "--calibration", "none.yml"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("none.yml: "));
}

TEST_F(CalibratedPair, DepthsAreWrittenIn16BitsWhereAsked) {
  write_pair_folder("pair", "ndisp=16\n");
  const auto run = [&](const std::string& step) { return reconstruct({"pair", "--depth-png", step}); };
  const auto expect_steps = [&](double step, double most, std::size_t least) {
    const Image<float> depth = read_pfm(file("pair/dense/depth.pfm"));
    const Image<std::uint16_t> png = read_png16(file("pair/dense/depth.png"));
    std::size_t known = 0;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const double z = static_cast<double>(depth(x, y));
        EXPECT_EQ(png(x, y), std::isnan(z) || z > most ? 0 : std::lround(z / step)) << x << " " << y;
        known += png(x, y) > 0 ? 1u : 0u;
      }
    EXPECT_GT(known, least);
  };
  // Middlebury's baseline is in millimetres: the plane is at 20 of them.
  ASSERT_EQ(run("mm").exit_code, 0);
  expect_steps(1, 1e9, 1000);
  EXPECT_EQ(report("pair/dense").at("depth_png").at("step"), 1);
  EXPECT_EQ(report("pair/dense").at("calibration").at("unit"), "mm");
  ASSERT_EQ(run("0.01").exit_code, 0);
  expect_steps(0.01, 655.35, 1000);
  const Outcome fine = run("0.0003");
  ASSERT_EQ(fine.exit_code, 0) << fine.err;
  expect_steps(0.0003, 65535.49 * 0.0003, 50);
  EXPECT_THAT(fine.err, HasSubstr("depth.png holds depths up to 19.6605 mm; "));
  ASSERT_EQ(reconstruct({"pair"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(file("pair/dense/depth.png"))) << "nothing of an earlier run may stay";

  write_folder("metres", "calib.json", realsense_);
  ASSERT_EQ(reconstruct({"metres", "--max-disparity", "16", "--depth-png", "mm"}).exit_code, 0);
  EXPECT_EQ(read_png16(file("metres/dense/depth.png"))(60, 40),
            std::lround(1000 * static_cast<double>(read_pfm(file("metres/dense/depth.pfm"))(60, 40))));
}

TEST_F(CalibratedPair, WithoutAUnitNeedsTheStepAsANumber) {
  write_folder("pair", "calib.yaml", opencv_);
  const Outcome outcome = reconstruct({"pair", "--max-disparity", "16", "--depth-png", "mm"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--depth-png mm: pair/calib.yaml of OpenCV does not say its unit"));
  EXPECT_EQ(reconstruct({"pair", "--max-disparity", "16", "--depth-png", "0.001"}).exit_code, 0);
  write_images();
  const Outcome without = match({"--depth-png", "mm"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("--depth-png needs a calibration"));
  for (const char* text : {"0", "-1", "x", "inf"})
    EXPECT_THAT(match({"--depth-png", text}).err,
                HasSubstr("--depth-png is '" + std::string(text) + "'; write mm"))
        << text;
}

TEST_F(CalibratedPair, FilledPixelsAreKnownAndSaidToBeFilled) {
  write_pair_folder("pair", "ndisp=16\n");
  const Outcome filled = reconstruct({"pair", "--fill", "-o", "filled"}),
                as_matched = reconstruct({"pair", "-o", "matched"});
  EXPECT_THAT(filled.out, testing::ContainsRegex("120x80, 100.0 % known, [0-9.]+ % filled, in "));
  EXPECT_THAT(as_matched.out, Not(HasSubstr("filled,")));
  const auto all = report("filled"), some = report("matched");
  EXPECT_EQ(all.at("known"), 1.0);
  EXPECT_EQ(some.at("filled"), 0.0);
  const double unknown = 1 - some.at("known").get<double>();
  EXPECT_GE(all.at("filled").get<double>(), unknown - 1e-9) << "and some were replaced";
  EXPECT_LT(all.at("filled").get<double>(), unknown + 0.1);
  const Outcome kept = reconstruct({"pair", "--fill", "-o", "filled"});
  EXPECT_THAT(kept.out, HasSubstr("100.0 % known, "));
}

TEST_F(CalibratedPair, ReportHasThePhotoTheCloudAndNumbersOnItsScale) {
  write_pair_folder("pair", "ndisp=16\n");
  ASSERT_EQ(reconstruct({"pair"}).exit_code, 0);
  const fs::path page = file("pair/dense/report.html");
  EXPECT_EQ(page_data(page, "pair").at("photo"), "photo.jpg");
  EXPECT_EQ(page_data(page, "pair").at("preview"), "preview.png");
  const Image<Rgb8> photo = read_image(file("pair/dense/photo.jpg")), left = read_image(file("pair/im0.png"));
  double difference = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) difference += std::abs(photo(x, y).g - left(x, y).g);
  EXPECT_LT(difference / (kWidth * kHeight), 4);
  const nlohmann::json colours = report("pair/dense").at("colours");
  const double low = colours.at(0), high = colours.at(1);
  EXPECT_LE(low, kShift + 0.3);
  EXPECT_GE(high, kShift - 0.3);
  const nlohmann::json depths = report("pair/dense").at("preview_depths");
  EXPECT_NEAR(depths.at(0), 200 / (low + 4), 1e-9);
  EXPECT_NEAR(depths.at(1), 200 / (high + 4), 1e-9);
  EXPECT_EQ(page_data(page, "pair").at("preview_depths"), depths);
  if (content(page).find("THREE") != std::string::npos) {
    EXPECT_EQ(page_data(page, "points").at("eye").size(), 3u);
  }

  write_images();
  ASSERT_EQ(match({}).exit_code, 0);
  const nlohmann::json plain = page_data(file("dense/report.html"), "pair");
  EXPECT_EQ(plain.at("photo"), "photo.jpg");
  EXPECT_EQ(plain.at("colours").size(), 2u);
  EXPECT_FALSE(plain.contains("preview_depths") || plain.contains("points"));
  EXPECT_EQ(page_data(file("dense/report.html"), "points"), nullptr);
}

}  // namespace
}  // namespace recon

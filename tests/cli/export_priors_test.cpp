// The maps of --export-priors, read as the loaders of the trainers read them, against the maps of the run and
// the exact truth of the demo.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "cli/scene_fixture.hpp"
#include "io/map/map_files.hpp"
#include "io/model/colmap_model.hpp"
#include "session/plan/plan.hpp"

namespace recon {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

double median(std::vector<double> values) {
  if (values.empty()) return 1e9;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// The demo with its true depths as given maps. One photo is in a folder of its own, and the last view is
/// only a source.
class ExportedPriors : public SceneTest {
 protected:
  ExportedPriors() {
    fs::copy(fs::path(RECON_SOURCE_DIR) / "scenes/demo", demo(), fs::copy_options::recursive);
    Scene model = read_colmap_model(demo() / "sparse");
    fs::create_directories(demo() / "images/cam0");
    fs::create_directories(demo() / "gt_depth/cam0");
    fs::rename(demo() / "images/view01.jpg", demo() / "images/cam0/view01.jpg");
    fs::rename(demo() / "gt_depth/view01.png", demo() / "gt_depth/cam0/view01.png");
    model.views[1].name = "cam0/view01.jpg";
    write_model(model);
  }

  void write_model(const Scene& model) const {
    write_colmap_model(demo() / "sparse", model, ColmapFormat::kText);
  }

  Outcome run(const std::vector<std::string>& more, const std::string& unit = "0.001") const {
    std::vector<std::string> words = {RECON_RECONSTRUCT, demo().string(), "--device", "cpu"};
    for (const char* word : {"--depth-maps", "gt_depth", "--depth-unit"}) words.emplace_back(word);
    words.push_back(unit);
    for (const char* word : {"--views", "*view0[0-7].jpg"}) words.emplace_back(word);
    words.insert(words.end(), more.begin(), more.end());
    return run_program(folder(), words);
  }
  void export_to(const std::string& format) const {
    const Outcome outcome = run({"--export-priors", format});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  fs::path demo() const { return folder() / "demo"; }
  fs::path out() const { return demo() / "dense"; }
  fs::path splat() const { return out() / "splat"; }
  json depth_params() const { return json::parse(content(splat() / "sparse/0/depth_params.json")); }
  static std::vector<double> positive_scales(const json& params) {
    std::vector<double> scales;
    for (const json& of_view : params)
      if (of_view.at("scale") > 0) scales.push_back(of_view.at("scale"));
    return scales;
  }
  Scene dense_model() const { return read_colmap_model(out() / "sparse"); }

  bool is_checked(const std::string& view) const { return fs::exists(map_file("depth_maps", view, ".bin")); }
  fs::path map_file(const std::string& kind, const std::string& view, const std::string& ending) const {
    return out() / "stereo" / kind / (view + ".geometric" + ending);
  }
  /// Of the run; 0 is unknown.
  cv::Mat depths(const std::string& view, cv::Size size) const {
    cv::Mat depths = cv::Mat::zeros(size, CV_32F);
    if (!is_checked(view)) return depths;
    const Image<float> map = read_depth_map(map_file("depth_maps", view, ".bin"));
    EXPECT_EQ(cv::Size(map.width(), map.height()), size);
    for (int y = 0; y < map.height(); ++y)
      for (int x = 0; x < map.width(); ++x) depths.at<float>(y, x) = std::isnan(map(x, y)) ? 0.0f : map(x, y);
    return depths;
  }
  Image<Vec3f> normals(const std::string& view) const {
    return read_normal_map(map_file("normal_maps", view, ".bin"));
  }
  /// The exact depths; 0 is unknown.
  cv::Mat truth(const std::string& view) const {
    cv::Mat depths;
    cv::imread((demo() / "gt_depth" / stem(view)).string() + ".png", cv::IMREAD_ANYDEPTH)
        .convertTo(depths, CV_32F, 0.001);
    return depths;
  }

  static std::string stem(const std::string& view) { return view.substr(0, view.rfind('.')); }
  static cv::Size size_of(const Camera& camera) { return {camera.width, camera.height}; }
  static const Camera& camera_of(const Scene& scene, const View& view) { return scene.cameras[view.camera]; }
};

TEST_F(ExportedPriors, AreInverseDepthsBesideTheModelForGaussianSplatting) {
  const Outcome outcome = run({"--export-priors", "3dgs", "--export-points", "300"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json params = depth_params();
  const Scene model = read_colmap_model(splat() / "sparse/0");
  ASSERT_EQ(model.views.size(), 9u);
  ASSERT_GT(model.points.size(), 200u);
  const std::vector<double> scales = positive_scales(params);
  std::vector<double> errors;
  ASSERT_EQ(scales.size(), 8u);
  for (const View& view : model.views) {
    ASSERT_TRUE(fs::exists(splat() / "images" / view.name));
    ASSERT_TRUE(params.contains(stem(view.name))) << view.name;
    const double scale = params[stem(view.name)].at("scale"), offset = params[stem(view.name)].at("offset");
    const cv::Mat file = cv::imread((splat() / "depths" / stem(view.name)).string() + ".png", -1);
    ASSERT_EQ(file.type(), CV_16UC1) << view.name;
    const cv::Size size = size_of(camera_of(model, view));
    ASSERT_EQ(file.size(), size);
    // The trainer ignores the depths of other scales.
    const bool reliable = scale >= 0.2 * median(scales) && scale <= 5 * median(scales);
    EXPECT_EQ(reliable, is_checked(view.name)) << view.name;
    const cv::Mat z = depths(view.name, size), exact = truth(view.name);
    double largest_error = 0;
    for (int y = 0; y < file.rows; ++y)
      for (int x = 0; x < file.cols; ++x) {
        ASSERT_EQ(file.at<std::uint16_t>(y, x) == 0, z.at<float>(y, x) == 0) << view.name;
        if (z.at<float>(y, x) == 0) continue;
        const double inverse = file.at<std::uint16_t>(y, x) / 65536.0 * scale + offset;
        largest_error = std::max(largest_error, std::abs(inverse - 1.0 / z.at<float>(y, x)) * 65536 / scale);
        if (exact.at<float>(y, x) > 0) errors.push_back(std::abs(inverse * exact.at<float>(y, x) - 1));
      }
    EXPECT_LT(largest_error, 0.51) << "steps, " << view.name;
  }
  EXPECT_LT(median(errors), 0.002);
}

TEST_F(ExportedPriors, HaveScalesThatGaussianSplattingTakesAlsoOfAViewOfNearThings) {
  // A thing at a fortieth of the depth before one camera.
  cv::Mat map = cv::imread((demo() / "gt_depth/view00.png").string(), cv::IMREAD_ANYDEPTH);
  double nearest = 0;
  cv::minMaxLoc(map, &nearest, nullptr, nullptr, nullptr, map > 0);
  map(cv::Rect(100, 100, 60, 60)) = nearest / 40;
  cv::imwrite((demo() / "gt_depth/view00.png").string(), map);
  const Outcome outcome = run({"--export-priors", "3dgs", "--min-lone-confidence", "0"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<double> scales = positive_scales(depth_params());
  ASSERT_EQ(scales.size(), 8u);
  ASSERT_GT(std::ranges::max(scales), 10 / (nearest * 0.001)) << "the thing is in the map";
  for (const double scale : scales) {
    EXPECT_GT(scale, 0.2 * median(scales));
    EXPECT_LT(scale, 5 * median(scales));
  }
}

TEST_F(ExportedPriors, AreDepthsWithCamerasForNerfstudio) {
  export_to("nerfstudio");
  const json meta = json::parse(content(splat() / "transforms.json"));
  const Scene model = dense_model();
  ASSERT_EQ(meta.at("frames").size(), 9u);
  EXPECT_EQ(meta.at("depth_unit_scale_factor"), 0.001) << "what the program takes by itself";
  std::vector<double> errors;
  for (const json& frame : meta.at("frames")) {
    const std::string file_path = frame.at("file_path"), name = file_path.substr(std::strlen("images/"));
    ASSERT_TRUE(fs::exists(splat() / file_path)) << file_path;
    const auto view = std::ranges::find(model.views, name, &View::name);
    ASSERT_NE(view, model.views.end()) << name;
    const std::vector<double>& k = camera_of(model, *view).params;
    for (const auto& [key, value] : {std::pair("fl_x", k[0]), {"fl_y", k[1]}, {"cx", k[2]}, {"cy", k[3]}})
      EXPECT_EQ(frame.at(key), value);
    const cv::Mat file =
        cv::imread((splat() / frame.at("depth_file_path").get<std::string>()).string(), cv::IMREAD_ANYDEPTH);
    ASSERT_EQ(file.type(), CV_16UC1) << name;
    ASSERT_EQ(file.size(), cv::Size(frame.at("w"), frame.at("h")));
    const cv::Mat z = depths(name, file.size()), exact = truth(name);
    const json& camera_to_world = frame.at("transform_matrix");
    for (int y = 0; y < file.rows; ++y)
      for (int x = 0; x < file.cols; ++x) {
        const double depth = file.at<std::uint16_t>(y, x) * 0.001;
        ASSERT_NEAR(depth, z.at<float>(y, x), 0.00051) << name;
        ASSERT_EQ(depth == 0, z.at<float>(y, x) == 0);
        if (depth > 0 && exact.at<float>(y, x) > 0) errors.push_back(std::abs(depth - exact.at<float>(y, x)));
        if (x % 20 != 0 || y % 20 != 0) continue;
        // The camera looks along -z, and y is up.
        const double u = (x + 0.5 - k[2]) / k[0], v = (y + 0.5 - k[3]) / k[1];
        const double ray[] = {u * depth, -v * depth, -depth, 1};
        double world[3] = {};
        for (std::size_t row = 0; row < 3; ++row)
          for (std::size_t column = 0; column < 4; ++column)
            world[row] += camera_to_world[row][column].get<double>() * ray[column];
        const Vec3d expected = inverse(view->cam_from_world) * Vec3d{u * depth, v * depth, depth};
        ASSERT_LT(norm(Vec3d{world[0], world[1], world[2]} - expected), 1e-9) << name;
      }
  }
  EXPECT_LT(median(errors), 0.005);
}

TEST_F(ExportedPriors, ForNerfstudioHaveAUnitThatHoldsTheDepths) {
  for (const auto& [scale, unit] : {std::pair(100.0, 0.01), {0.01, 1e-6}}) {
    Scene model = read_colmap_model(fs::path(RECON_SOURCE_DIR) / "scenes/demo/sparse");
    model.views[1].name = "cam0/view01.jpg";
    for (View& view : model.views) view.cam_from_world.translation = scale * view.cam_from_world.translation;
    for (SparsePoint& point : model.points.edit()) point.position = scale * point.position;
    write_model(model);
    const Outcome outcome =
        run({"--export-priors", "nerfstudio", "--overwrite"}, fmt::format("{}", 0.001 * scale));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const double found =
        json::parse(content(splat() / "transforms.json")).at("depth_unit_scale_factor").get<double>();
    EXPECT_NEAR(found / unit, 1, 1e-9);
    EXPECT_THAT(outcome.err,
                HasSubstr("give nerfstudio --depth-unit-scale-factor " + fmt::format("{}", unit)));
    const cv::Mat file = cv::imread((splat() / "depths/view00.png").string(), cv::IMREAD_ANYDEPTH);
    const cv::Mat z = depths("view00.jpg", file.size());
    for (int y = 0; y < file.rows; ++y)
      for (int x = 0; x < file.cols; ++x)
        ASSERT_NEAR(file.at<std::uint16_t>(y, x) * found, z.at<float>(y, x), 0.51 * found);
  }
}

TEST_F(ExportedPriors, AreDepthsAndNormalsForLichtfeld) {
  export_to("lichtfeld");
  std::vector<double> angles;
  const Scene model = dense_model();
  for (const View& view : model.views) {
    const cv::Mat depth = cv::imread((splat() / "depths" / stem(view.name)).string() + ".png", -1);
    const cv::Mat colours = cv::imread((splat() / "normals" / stem(view.name)).string() + ".png", -1);
    ASSERT_EQ(depth.type(), CV_16UC1) << view.name;
    ASSERT_EQ(colours.type(), CV_16UC3) << view.name;
    const cv::Size size = size_of(camera_of(model, view));
    ASSERT_EQ(depth.size(), size);
    ASSERT_EQ(colours.size(), size);
    const cv::Mat z = depths(view.name, size), exact = truth(view.name);
    double far = 0;
    cv::minMaxLoc(z, nullptr, &far);
    const std::vector<double>& k = camera_of(model, view).params;
    const auto point = [&](int x, int y) {
      const auto at = static_cast<double>(exact.at<float>(y, x));
      return Vec3d{(x + 0.5 - k[2]) / k[0] * at, (y + 0.5 - k[3]) / k[1] * at, at};
    };
    for (int y = 0; y < depth.rows; ++y)
      for (int x = 0; x < depth.cols; ++x) {
        const auto bgr = colours.at<cv::Vec3w>(y, x);
        const Vec3d n = {bgr[2] / 65535.0 * 2 - 1, bgr[1] / 65535.0 * 2 - 1, bgr[0] / 65535.0 * 2 - 1};
        if (z.at<float>(y, x) == 0) {  // neither counts
          ASSERT_EQ(depth.at<std::uint16_t>(y, x), 0);
          ASSERT_LT(norm(n), 1e-4);
          continue;
        }
        // The trainer fits a scale and an offset of each view.
        ASSERT_NEAR(depth.at<std::uint16_t>(y, x) / 65535.0 * far, z.at<float>(y, x), 0.51 * far / 65535);
        if (x % 5 != 2 || y % 5 != 2 || x + 2 >= depth.cols || y + 2 >= depth.rows) continue;
        const Vec3d right = point(x + 2, y) - point(x - 2, y), down = point(x, y + 2) - point(x, y - 2);
        Vec3d expected = normalized(cross(right, down));
        if (dot(expected, point(x, y)) > 0) expected = -expected;  // towards the camera
        EXPECT_LT(dot(n, point(x, y)), 0.2);
        angles.push_back(std::acos(std::clamp(dot(normalized(n), expected), -1.0, 1.0)));
      }
  }
  EXPECT_GT(angles.size(), 10000u);
  EXPECT_LT(median(angles) * 180 / std::numbers::pi, 3);
}

/// The floats of an array of NumPy, of this shape.
std::vector<float> read_array(const fs::path& file, const std::string& shape) {
  const std::string bytes = content(file);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8)) << file;
  const auto header = static_cast<std::size_t>(static_cast<unsigned char>(bytes.at(8))) +
                      256 * static_cast<std::size_t>(static_cast<unsigned char>(bytes.at(9)));
  EXPECT_EQ((10 + header) % 64, 0u);
  const std::string text = bytes.substr(10, header);
  EXPECT_THAT(text,
              testing::StartsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }"));
  EXPECT_EQ(text.back(), '\n');
  std::vector<float> values((bytes.size() - 10 - header) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + 10 + header, values.size() * sizeof(float));
  return values;
}

TEST_F(ExportedPriors, AreArraysOfNumPy) {
  export_to("npy");
  EXPECT_FALSE(fs::exists(splat() / "priors/view08.jpg.depth.npy")) << "a source alone has no map";
  for (const std::string view : {"view00.jpg", "cam0/view01.jpg"}) {
    const std::string file = (splat() / "priors" / view).string();
    const std::vector<float> depth = read_array(file + ".depth.npy", "300, 400"),
                             normal = read_array(file + ".normal.npy", "300, 400, 3"),
                             confidence = read_array(file + ".confidence.npy", "300, 400");
    ASSERT_EQ(depth.size(), 120000u);
    ASSERT_EQ(normal.size(), 360000u);
    ASSERT_EQ(confidence.size(), 120000u);
    const Image<float> greys = read_confidence_map(map_file("confidence_maps", view, ".png"));
    const Image<Vec3f> vectors = normals(view);
    const cv::Mat z = depths(view, {400, 300});
    for (int y = 0; y < 300; ++y)
      for (int x = 0; x < 400; ++x) {
        const std::size_t i = 400 * static_cast<std::size_t>(y) + static_cast<std::size_t>(x);
        ASSERT_EQ(depth[i], z.at<float>(y, x));
        ASSERT_EQ(confidence[i], greys(x, y));
        const Vec3f n = std::isnan(vectors(x, y).x) ? Vec3f{0, 0, 0} : vectors(x, y);
        ASSERT_EQ(normal[3 * i], n.x);
        ASSERT_EQ(normal[3 * i + 1], n.y);
        ASSERT_EQ(normal[3 * i + 2], n.z);
      }
  }
}

TEST_F(ExportedPriors, AreKeptUntilTheyAreStaleOrNotAskedFor) {
  export_to("3dgs");
  const json report = json::parse(content(out() / "report.json")).at("export");
  EXPECT_EQ(report, (json{{"folder", "splat"}, {"priors", 10}}));
  const std::string first = content(splat() / "depths/cam0/view01.png");
  EXPECT_THAT(run({"--export-priors", "3dgs"}).err, HasSubstr("10 files of priors are finished and kept"));
  fs::remove(splat() / "depths/cam0/view01.png");
  EXPECT_THAT(run({"--export-priors", "3dgs"}).err, HasSubstr("cam0/view01.png is missing"));
  EXPECT_EQ(content(splat() / "depths/cam0/view01.png"), first);
  EXPECT_THAT(run({"--export-priors", "npy", "--dry-run"}).out,
              HasSubstr("removed: 10 files in " + splat().string() + ", which this run does not export"));
  EXPECT_THAT(run({"--export-priors", "npy"}).err,
              HasSubstr("the stale one is made again: --export-priors 3dgs -> npy"));
  EXPECT_FALSE(fs::exists(splat() / "depths"));
  EXPECT_TRUE(fs::exists(splat() / "priors/cam0"));
  EXPECT_THAT(run({}).err, HasSubstr("splat are removed, as neither"));
  EXPECT_FALSE(fs::exists(splat()));
  // Other maps of the same views.
  export_to("3dgs");
  EXPECT_THAT(run({"--export-priors", "3dgs", "--max-hole", "0"}).err,
              HasSubstr("export: 10 files of priors are in"));
}

/// gaussian-splatting takes a hole for something infinitely far.
TEST_F(ExportedPriors, HaveNoHolesWhereThatIsAskedFor) {
  const std::vector<std::string> filled = {"--export-priors", "3dgs", "--export-filled"};
  ASSERT_EQ(run(filled).exit_code, 0);
  const json params = depth_params();
  int holes = 0;
  for (const std::string view : {"view00.jpg", "cam0/view01.jpg"}) {
    const cv::Mat file = cv::imread((splat() / "depths" / stem(view)).string() + ".png", -1);
    const cv::Mat z = depths(view, file.size());
    const double scale = params[stem(view)].at("scale");
    double nearest = 0, farthest = 0;
    cv::minMaxLoc(z, &nearest, &farthest, nullptr, nullptr, z > 0);
    for (int y = 0; y < file.rows; ++y)
      for (int x = 0; x < file.cols; ++x) {
        const double inverse = file.at<std::uint16_t>(y, x) / 65536.0 * scale;
        if (z.at<float>(y, x) > 0)
          ASSERT_NEAR(inverse, 1.0 / z.at<float>(y, x), scale / 65536);
        else
          ++holes;
        ASSERT_GT(inverse, 0.999 / farthest) << view << " " << x << " " << y;
        ASSERT_LT(inverse, 1.001 / nearest);
      }
  }
  EXPECT_GT(holes, 100);
  EXPECT_THAT(run({"--export-priors", "npy", "--export-filled"}).err,
              HasSubstr("the stale one is made again: --export-priors 3dgs -> npy"));
  const std::string file = (splat() / "priors/view00.jpg").string();
  const std::vector<float> depth = read_array(file + ".depth.npy", "300, 400"),
                           confidence = read_array(file + ".confidence.npy", "300, 400");
  const cv::Mat z = depths("view00.jpg", {400, 300});
  for (std::size_t i = 0; i < depth.size(); ++i) {
    ASSERT_GT(depth[i], 0);
    if (z.ptr<float>()[i] == 0) {
      ASSERT_EQ(confidence[i], 0);
    }
  }
}

TEST_F(ExportedPriors, OfTwoPhotosDoNotShareAName) {
  Scene model = read_colmap_model(demo() / "sparse");
  fs::copy(demo() / "images/view00.jpg", demo() / "images/view02.JPG");
  model.views[0].name = "view02.JPG";
  write_model(model);
  const Outcome refused = run({"--export-priors", "3dgs", "--dry-run"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("view02.png; rename one of the photos"));
  EXPECT_THAT(run({"--export-priors", "npy", "--dry-run"}).err, Not(HasSubstr("rename")));
}

}  // namespace
}  // namespace recon

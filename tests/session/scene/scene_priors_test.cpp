// Priors of --prior-maps as part of a run: what they fill, which are not used, and when it is done again.

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "io/map/map_files.hpp"
#include "io/map/npy.hpp"
#include "session/options/options.hpp"
#include "session/scene/prior_fits.hpp"
#include "session/scene/scene_steps.hpp"

namespace recon {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the fixture and its backends
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kPriorViews = 5;

/// A plain wall with posters and a floor, and what a network would see of them.
class ScenePriors : public SceneSteps {
 protected:
  ScenePriors() : SceneSteps("plain_scene.json", kPriorViews) {
    options_ = parse_options({});
    options_.quiet = true;
    options_.scene_planes = 0;
    const std::string file = RECON_SOURCE_DIR "/tests/cli/data/plain_scene.json";
    const SceneDescription description = parse_description(content(file), file, kPriorViews).scene;
    fs::create_directories(maps());
    for (int i = 0; i < kPriorViews; ++i) {
      names_.push_back(description.views[static_cast<std::size_t>(i)].name);
      truth_.push_back(render_view(description, i).depth);
    }
  }

  fs::path maps() const { return folder_ / "priors"; }

  /// Writes a map of each view. @param value  value(view, x, y)
  template <class Value>
  void write_priors(const Value& value) const {
    for (int view = 0; view < kPriorViews; ++view) {
      Image<float> map(truth_[view].width(), truth_[view].height());
      for (int y = 0; y < map.height(); ++y)
        for (int x = 0; x < map.width(); ++x) map(x, y) = static_cast<float>(value(view, x, y));
      write_pfm(maps() / (names_[static_cast<std::size_t>(view)] + ".pfm"), map.view());
    }
  }
  /// Writes levels of a sensor, 0 and 2. @param unsure  unsure(view, x, y)
  template <class Unsure>
  void write_confidences(const std::string& ending, const Unsure& unsure) const {
    for (int view = 0; view < kPriorViews; ++view) {
      Image<std::uint8_t> map(truth_[view].width(), truth_[view].height());
      for (int y = 0; y < map.height(); ++y)
        for (int x = 0; x < map.width(); ++x) map(x, y) = unsure(view, x, y) ? 0 : 2;
      write_image(maps() / (names_[static_cast<std::size_t>(view)] + ending), map.view());
    }
  }
  double depth(int view, int x, int y) const { return static_cast<double>(truth_[view](x, y)); }
  /// Of another scale in each view, and bent.
  void write_network_priors() const {
    write_priors([&](int view, int x, int y) {
      return (1 + 0.3 * view) * (1 / (depth(view, x, y) * (1 + 0.05 * std::sin(0.01 * x))) + 0.1);
    });
  }

  std::unique_ptr<SceneJob> run(const std::string& output) {
    Backends backends;
    add_backend(backends, "only");
    auto job = begin(output);
    prepare(*job, backends);
    do_all(*job, backends);
    return job;
  }
  std::unique_ptr<SceneJob> run_with_priors(const std::string& output) {
    options_.prior.folder = maps();
    return run(output);
  }

  /// The shares of the pixels of a run that have a checked depth, and one within 1 % of the truth.
  std::pair<double, double> known_and_right(SceneJob& job) const {
    double known = 0, right = 0, all = 0;
    for (int view = 0; view < kPriorViews; ++view) {
      const ViewPlan& plan = job.plan.view(view);
      const auto found = job.products.maps.get(MapKind::kGeometric, plan.output_name, plan.camera);
      for (int y = 0; y < plan.camera.height; ++y)
        for (int x = 0; x < plan.camera.width; ++x) {
          all += 1;
          known += std::isnan(found->depth(x, y)) ? 0 : 1;
          right += std::abs(static_cast<double>(found->depth(x, y)) / depth(view, x, y) - 1) <= 0.01;
        }
    }
    return {known / all, right / all};
  }

  static nlohmann::json result(const SceneJob& job) {
    return job.products.results.get({Step::kPlanes})->result;
  }

  std::vector<std::string> names_;
  std::vector<Image<float>> truth_;
};

TEST_F(ScenePriors, FillWhatPhotosDoNotShow) {
  const auto [known_without, right_without] = known_and_right(*run("none"));
  write_network_priors();
  const auto job = run_with_priors("with");
  const auto [known, right] = known_and_right(*job);
  EXPECT_GT(right, right_without + 0.1) << right_without;
  EXPECT_GT(right / known, right_without / known_without - 0.1) << "cells of 16 pixels in images of 120";
  EXPECT_EQ(result(*job).at("prior_kind"), "inverse");
  for (const std::string& name : names_) {
    const nlohmann::json prior = result(*job).at("priors").at(name);
    EXPECT_TRUE(prior.at("used"));
    EXPECT_GT(prior.at("right"), prior.at("right_without"));
    EXPECT_GT(prior.at("filled"), 0.02);
    EXPECT_TRUE(fs::exists(job->products.workspace.path(Workspace::prior_file(name))));
  }
  EXPECT_THAT(job->findings.warnings, IsEmpty());
}

/// A depth that photos are sure of stays.
TEST_F(ScenePriors, MoveNothingThatIsSure) {
  const auto without = run("none");
  write_network_priors();
  const auto with = run_with_priors("with");
  int sure = 0, moved = 0;
  for (int view = 0; view < kPriorViews; ++view) {
    const ViewPlan& plan = with->plan.view(view);
    const auto before = without->products.maps.get(MapKind::kGeometric, plan.output_name, plan.camera),
               after = with->products.maps.get(MapKind::kGeometric, plan.output_name, plan.camera),
               photos = with->products.maps.get(MapKind::kPhotometric, plan.output_name, plan.camera);
    for (int y = 0; y < plan.camera.height; ++y)
      for (int x = 0; x < plan.camera.width; ++x) {
        const float of_photos = photos->depth(x, y);  // and not of a hole that was filled
        if (!(before->confidence(x, y) >= 0.9f) || !(std::abs(of_photos / before->depth(x, y) - 1) <= 0.005f))
          continue;
        ++sure;
        moved += !(std::abs(after->depth(x, y) / before->depth(x, y) - 1) <= 0.005f);
      }
  }
  EXPECT_GT(sure, 5000);
  EXPECT_LE(moved, sure / 500);
}

TEST_F(ScenePriors, ThatAreOfSomethingElseChangeNothing) {
  const auto expected = results(*run("none"));
  const auto expect_unused = [&](const char* what) {
    SCOPED_TRACE(what);
    const auto job = run_with_priors("lies");
    EXPECT_THAT(job->findings.warnings, Contains(AllOf(HasSubstr("the priors of 5 of 5 views are not used"),
                                                       HasSubstr(names_.front()))));
    expect_equal(results(*job), expected);
  };
  write_priors([&](int view, int x, int y) { return 1 / depth(view, x, truth_[view].height() - 1 - y); });
  expect_unused("upside down");
  write_priors([&](int, int x, int y) { return 1 + (x * 7919 + y * 104729) % 97; });
  expect_unused("noise");
  write_priors([](int, int, int) { return 2.5; });
  expect_unused("constant");
}

TEST_F(ScenePriors, OfDepthsAreRecognised) {
  write_priors([&](int view, int x, int y) { return 0.4 * depth(view, x, y); });
  const auto job = run_with_priors("depths");
  EXPECT_EQ(result(*job).at("prior_kind"), "depth");
  const auto [known, right] = known_and_right(*job);
  write_priors([&](int view, int x, int y) { return 3 / depth(view, x, y); });
  options_.prior.kind = PriorKind::kInverse;
  const auto [known_inverse, right_inverse] = known_and_right(*run_with_priors("inverse"));
  EXPECT_NEAR(right, right_inverse, 0.002);
  write_priors([&](int view, int x, int y) {
    const Pinhole& camera = job->plan.view(view).camera;
    return 0.01 * depth(view, x, y) * norm(camera.ray(pixel_centre(x, y)));
  });
  options_.prior.kind = PriorKind::kDistance;
  const auto [known_distance, right_distance] = known_and_right(*run_with_priors("distance"));
  EXPECT_NEAR(right, right_distance, 0.002);
}

/// What they follow is found in views that have one, and not said where nothing is used.
TEST_F(ScenePriors, OfSomeViewsAreRecognised) {
  write_priors([&](int view, int x, int y) { return 0.4 * depth(view, x, y); });
  for (const int without : {0, 2, 4})
    fs::remove(maps() / (names_[static_cast<std::size_t>(without)] + ".pfm"));
  const auto job = run_with_priors("some");
  EXPECT_EQ(result(*job).at("prior_kind"), "depth");
  EXPECT_THAT(result(*job).at("priors"), testing::SizeIs(2));
  const auto kind_by = [&](const std::vector<int>& with, const std::vector<int>& views) {
    std::vector<ConfirmedView> confirmed;
    for (const int i : views)
      confirmed.push_back({i, job->plan.view(i).camera, truth_[i].view(), truth_[i].view()});
    write_priors([&](int view, int x, int y) { return depth(view, x, y); });
    for (int i = 0; i < kPriorViews; ++i)
      if (std::ranges::find(with, i) == with.end())
        fs::remove(maps() / (names_[static_cast<std::size_t>(i)] + ".pfm"));
    PriorMaps priors;
    priors.find(maps(), job->plan.scene.views, kAmpleMemory);
    const PriorSource source{true,
                             [&](int view) { return priors.has(names_[static_cast<std::size_t>(view)]); },
                             [&](int view, const Pinhole& camera, PriorKind kind) {
                               return priors.read(job->plan, view, camera, kind);
                             }};
    return PriorFits(source, PriorKind::kAuto, confirmed, 2).kind();
  };
  // Of six views every second one would be asked.
  EXPECT_EQ(kind_by({1}, {0, 1, 2, 3, 4, 0}), "depth");
}

/// A map from a dense workspace or an export is of the undistorted image, whatever its shape.
TEST_F(ScenePriors, OfUndistortedImagesAreTakenAsTheyAre) {
  Scene model = read_colmap_model(folder_ / "sparse");
  Camera& camera = model.cameras.front();
  const std::vector<double> pinhole = camera.params;
  camera.model = CameraModel::kSimpleRadial;
  camera.params = {pinhole[0], pinhole[2], pinhole[3], -0.08};
  write_colmap_model(folder_ / "sparse", model, ColmapFormat::kText);
  const auto job = begin("bent");
  const Pinhole& undistorted = job->plan.view(0).camera;
  const Camera& photo = job->plan.photo_camera(0);
  ASSERT_TRUE(undistorted.width == photo.width && undistorted.height == photo.height) << "of one shape";
  Image<float> map(photo.width, photo.height);
  for (int y = 0; y < photo.height; ++y)
    for (int x = 0; x < photo.width; ++x) map(x, y) = static_cast<float>(1000 + x + 200 * y);
  const auto read = [&](const char* ending, const auto& write) {
    fs::remove_all(maps());
    fs::create_directories(maps());
    write(maps() / (names_[0] + ending), map.view());
    PriorMaps priors;
    priors.find(maps(), job->plan.scene.views, kAmpleMemory);
    return priors.read(job->plan, 0, undistorted, PriorKind::kInverse).values;
  };
  const auto npy = [](const fs::path& file, ImageView<const float> it) { write_npy(file, it); };
  const auto bin = [](const fs::path& file, ImageView<const float> it) { write_depth_map(file, it); };
  const int x = photo.width - 3, y = photo.height - 3;
  EXPECT_EQ(read(".depth.npy", npy)(x, y), map(x, y));
  EXPECT_EQ(read(".geometric.bin", bin)(x, y), map(x, y));
  EXPECT_GT(std::abs(read(".npy", npy)(x, y) - map(x, y)), 1) << "of the photo";
}

/// Where a prior is of no confidence it is as unknown.
TEST_F(ScenePriors, AreNotUsedWhereTheyAreNotSure) {
  const auto unsure = [&](int view, int x, int y) { return (x + 40 * view) % 120 < 45 && y > 20; };
  const auto prior = [&](int view, int x, int y) { return 1 / depth(view, x, y) + 0.1; };
  write_priors([&](int view, int x, int y) {
    return unsure(view, x, y) ? std::numeric_limits<double>::quiet_NaN() : prior(view, x, y);
  });
  const auto with_holes = run_with_priors("holes");
  const auto expected = results(*with_holes);
  const auto garbage = [&](int view, int x, int y) {
    return unsure(view, x, y) ? 1 + (x * 7919 + y * 104729) % 97 : prior(view, x, y);
  };
  write_priors(garbage);
  const auto with_garbage = results(*run_with_priors("garbage"));
  EXPECT_NE(with_garbage, expected);
  write_confidences("_confidence.png", unsure);
  const auto job = run_with_priors("unsure");
  expect_equal(results(*job), expected);
  EXPECT_EQ(job->findings.warnings, with_holes->findings.warnings);
}

/// What is not sure does not blur into what is.
TEST(PriorInImage, HasNothingOfValuesThatAreNotSure) {
  Prior given{Image<float>(8, 6, 2.0f), Image<float>(8, 6, 1.0f)};
  for (int y = 0; y < 6; ++y)
    for (int x = 4; x < 8; ++x) given.values(x, y) = 1000, given.confidence(x, y) = 0.05f;
  const Pinhole camera{16, 12, 20, 20, 8, 6};
  const Prior prior =
      prior_in_image(std::move(given), PriorKind::kInverse, {to_camera({16, 12, 20, 20, 8, 6})}, camera);
  for (int y = 0; y < 12; ++y) {
    EXPECT_FLOAT_EQ(prior.values(4, y), 2);
    EXPECT_GT(prior.confidence(4, y), 0.99f);
    EXPECT_TRUE(std::isnan(prior.values(12, y)));
    for (int x = 0; x < 16; ++x) EXPECT_TRUE(std::isnan(prior.values(x, y)) || prior.values(x, y) < 2.001f);
  }
}

TEST_F(ScenePriors, HaveConfidencesBesideThem) {
  write_network_priors();
  const auto job = begin("plan");
  const auto found = [&](const fs::path& file) {
    fs::create_directories(file.parent_path());
    write_image(file, Image<std::uint8_t>(truth_[0].width(), truth_[0].height(), 1).view());
    PriorMaps priors;
    priors.find(maps(), job->plan.scene.views, kAmpleMemory);
    const fs::path confidence = priors.of(names_[0]).confidence;
    const Prior prior = priors.read(job->plan, 0, job->plan.view(0).camera, PriorKind::kInverse);
    fs::remove(file);
    EXPECT_TRUE(prior.confidence.empty() || std::abs(prior.confidence(60, 45) - 0.5f) < 1e-6f);
    return confidence == file && !prior.confidence.empty();
  };
  const std::string stem = fs::path(names_[0]).stem();
  EXPECT_TRUE(found(maps() / (names_[0] + ".confidence.png")));
  EXPECT_TRUE(found(maps() / (names_[0] + "_confidence.png")));
  EXPECT_TRUE(found(folder_ / "confidence" / (names_[0] + ".png")));
  EXPECT_FALSE(found(maps() / (names_[1] + "_confidence.png")));
  EXPECT_FALSE(found(folder_ / "confidence" / (stem + ".png"))) << "as the prior is named by the whole name";
}

TEST_F(ScenePriors, AreFittedAgainWhenTheirConfidencesChange) {
  write_network_priors();
  run_with_priors("run");
  write_confidences("_confidence.png", [](int, int x, int) { return x < 50; });
  const auto changed = run_with_priors("run");
  EXPECT_EQ(changed->products.results.count(Step::kEstimate).kept, kPriorViews) << "the photos are the same";
  EXPECT_EQ(changed->products.results.count(Step::kPlanes).done, 1);
  EXPECT_GT(changed->products.results.count(Step::kCheck).done, 0);
  expect_equal(results(*changed), results(*run_with_priors("new")));
  const auto kept = run_with_priors("run");
  EXPECT_EQ(kept->products.results.count(Step::kPlanes).kept, 1);
  EXPECT_EQ(kept->products.results.count(Step::kCheck).kept, kPriorViews);
  // Of one view: others are checked again only where it is their source.
  fs::remove(maps() / (names_[2] + "_confidence.png"));
  const auto of_one = run_with_priors("run");
  EXPECT_EQ(of_one->products.results.count(Step::kPlanes).done, 1);
  expect_equal(results(*of_one), results(*run_with_priors("new")));
}

TEST_F(ScenePriors, WithConfidencesOfAnotherShapeAreNotUsedInTheirView) {
  write_network_priors();
  write_pfm(maps() / (names_[1] + ".confidence.pfm"), Image<float>(50, 80, 1.0f).view());
  write_pfm(maps() / (names_[3] + ".confidence.pfm"), Image<float>(120, 90, 3.0f).view());
  const auto job = run_with_priors("run");
  EXPECT_THAT(job->findings.warnings,
              AllOf(Contains(AllOf(HasSubstr(names_[1]), HasSubstr("the confidences have 50x80 pixels"))),
                    Contains(AllOf(HasSubstr(names_[3]), HasSubstr("divide the map by its max")))));
  EXPECT_FALSE(fs::exists(job->products.workspace.path(Workspace::prior_file(names_[3]))));
  EXPECT_TRUE(fs::exists(job->products.workspace.path(Workspace::prior_file(names_[0]))));
}

/// What a larger limit can read is read.
TEST_F(ScenePriors, ThatWereTooLargeForTheMemoryAreReadWithMore) {
  write_network_priors();
  const auto job = run("none");
  const auto inputs_with = [&](std::size_t bytes) {
    job->input.prior.find(maps(), job->plan.scene.views, bytes);
    return job->inputs.planes({0});
  };
  EXPECT_NE(inputs_with(1000), inputs_with(kAmpleMemory));
}

TEST_F(ScenePriors, AreFittedAgainWhenTheyChange) {
  write_network_priors();
  const auto first = results(*run_with_priors("run"));
  const auto kept = run_with_priors("run");
  EXPECT_EQ(kept->products.results.count(Step::kPlanes).kept, 1);
  EXPECT_EQ(kept->products.results.count(Step::kCheck).kept, kPriorViews);
  expect_equal(results(*kept), first);
  fs::remove(maps() / (names_[2] + ".pfm"));
  const auto fewer = run_with_priors("run");
  EXPECT_EQ(fewer->products.results.count(Step::kEstimate).kept, kPriorViews) << "the photos are the same";
  EXPECT_EQ(fewer->products.results.count(Step::kPlanes).done, 1);
  EXPECT_THAT(fewer->findings.warnings, Contains(HasSubstr("1 of 5 views has no depth map there")));
  expect_equal(results(*fewer), results(*run_with_priors("new")));
  options_.prior = {};
  auto without = results(*run("run"));
  std::erase_if(without, [](const auto& file) { return file.first.starts_with("stereo/plane_maps/"); });
  expect_equal(without, results(*run("none")));
}

TEST_F(ScenePriors, OfAnotherShapeOrDamagedAreNotUsedInTheirView) {
  write_network_priors();
  write_pfm(maps() / (names_[1] + ".pfm"), Image<float>(50, 80, 1.0f).view());
  std::ofstream(maps() / (names_[3] + ".pfm")) << "Pf\n12";
  fs::remove(maps() / (names_[4] + ".pfm"));
  write_png16(maps() / (names_[4] + ".png"), Image<std::uint16_t>(120, 90, std::uint16_t{900}).view());
  fs::resize_file(maps() / (names_[4] + ".png"), fs::file_size(maps() / (names_[4] + ".png")) / 2);
  const auto job = run_with_priors("run");
  EXPECT_THAT(job->findings.warnings,
              AllOf(Contains(AllOf(HasSubstr(names_[1]), HasSubstr("50x80"))), Contains(HasSubstr(names_[3])),
                    Contains(AllOf(HasSubstr(names_[4]), HasSubstr("its prior is not used")))));
  EXPECT_FALSE(fs::exists(job->products.workspace.path(Workspace::prior_file(names_[1]))));
  EXPECT_TRUE(fs::exists(job->products.workspace.path(Workspace::prior_file(names_[0]))));
}

}  // namespace
}  // namespace recon

// The planes of a scene as a step of a run: what it leaves, and when it is done again.

#include <gmock/gmock.h>

#include <cmath>

#include "core/parallel.hpp"
#include "session/options/options.hpp"
#include "session/products/filled_maps.hpp"
#include "session/scene/scene_steps.hpp"
#include "session/scene/scene_work.hpp"

namespace recon {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the fixture and its backends

constexpr int kPlainViews = 5;

/// A plain wall with posters, a dado and a textured floor.
class ScenePlanes : public SceneSteps {
 protected:
  ScenePlanes() : SceneSteps("plain_scene.json", kPlainViews) {
    options_ = parse_options({});
    options_.quiet = true;
  }

  /// A run to its end.
  std::unique_ptr<SceneJob> run(const std::string& output) const {
    Backends backends;
    add_backend(backends, "only");
    return run(output, backends);
  }
  std::unique_ptr<SceneJob> run(const std::string& output, const Backends& backends) const {
    auto job = begin(output);
    prepare(*job, backends);
    job->collect_estimates();
    do_all(*job, backends);
    return job;
  }

  fs::path record(const std::string& output) const { return folder_ / output / "status/planes.json"; }
  fs::path areas(const std::string& output, int view) const {
    return folder_ / output / Workspace::plane_file(photo(view).filename().string());
  }
  fs::path photo(int view) const {
    std::vector<fs::path> photos;
    for (const auto& entry : fs::directory_iterator(folder_ / "images")) photos.push_back(entry.path());
    std::sort(photos.begin(), photos.end());
    return photos.at(static_cast<std::size_t>(view));
  }

  /// Whether a run has searched the planes, and not kept them.
  static bool searched(const SceneJob& job) {
    const ResultStore::Count count = job.products.results.count(Step::kPlanes);
    EXPECT_EQ(count.done + count.kept, 1);
    return count.done == 1;
  }

  /// The results of a run but for the files of areas.
  static std::map<std::string, std::string> without_areas(const SceneJob& job) {
    std::map<std::string, std::string> files = results(job);
    std::erase_if(files, [](const auto& file) { return file.first.starts_with("stereo/plane_maps/"); });
    return files;
  }

  /// The share of the pixels that have a checked depth.
  static double completeness(SceneJob& job) {
    double known = 0, all = 0;
    for (int view = 0; view < kPlainViews; ++view) {
      const ViewPlan& plan = job.plan.view(view);
      const auto maps = job.products.maps.get(MapKind::kGeometric, plan.output_name, plan.camera);
      for (int y = 0; y < plan.camera.height; ++y)
        for (int x = 0; x < plan.camera.width; ++x) known += std::isnan(maps->depth(x, y)) ? 0 : 1;
      all += static_cast<double>(plan.camera.width) * plan.camera.height;
    }
    return known / all;
  }
};

TEST_F(ScenePlanes, LeaveTheirRecordAndTheAreasThatTheyFill) {
  const auto job = run("planes");
  ASSERT_TRUE(fs::exists(record("planes")));
  const nlohmann::json result = nlohmann::json::parse(content(record("planes"))).at("result");
  EXPECT_GE(result.at("planes").size(), 2u) << "the wall and the floor";
  for (int view = 0; view < kPlainViews; ++view) {
    ASSERT_TRUE(fs::exists(areas("planes", view)));
    const Image<std::uint8_t> labels = read_grey_image(areas("planes", view));
    double filled = 0;
    for (int y = 0; y < labels.height(); ++y)
      for (int x = 0; x < labels.width(); ++x) {
        ASSERT_LE(labels(x, y), result.at("planes").size());
        filled += labels(x, y) != 0;
      }
    const double share = result.at("areas").at(job->plan.view(view).output_name);
    EXPECT_NEAR(filled / (labels.width() * labels.height()), share, 1e-12);
    EXPECT_GT(share, 0.02);  // 0.024 to 0.23: much of it may be a sky
  }
}

TEST_F(ScenePlanes, FillWhatHasNoTexture) {
  const double with = completeness(*run("planes"));
  options_.scene_planes = 0;
  const double without = completeness(*run("none"));
  EXPECT_GT(with, 0.55);     // 0.567
  EXPECT_LT(without, 0.50);  // 0.48
}

TEST_F(ScenePlanes, AreKeptByTheSameCommand) {
  const auto first = run("planes");
  EXPECT_TRUE(searched(*first));
  const std::string bytes = content(record("planes"));
  const auto again = run("planes");
  EXPECT_FALSE(searched(*again));
  EXPECT_EQ(again->products.results.count(Step::kCheck).kept, kPlainViews);
  EXPECT_EQ(content(record("planes")), bytes);
  expect_equal(results(*again), results(*first));
}

/// Neither in a new folder nor in one of a run that had them.
TEST_F(ScenePlanes, OfNumberZeroAreNotThere) {
  const auto first = run("planes");
  const auto with = results(*first);
  options_.scene_planes = 0;
  const auto none = run("none");
  EXPECT_FALSE(fs::exists(record("none")));
  EXPECT_FALSE(fs::exists(areas("none", 0).parent_path()));
  const auto over = run("planes");
  EXPECT_EQ(over->products.results.get({Step::kPlanes}), nullptr);
  EXPECT_EQ(over->products.results.count(Step::kEstimate).kept, kPlainViews) << "depth maps are the same";
  expect_equal(without_areas(*over), results(*none));
  EXPECT_NE(with.at("fused.ply"), results(*none).at("fused.ply"));
  options_ = parse_options({});
  options_.quiet = true;
  expect_equal(results(*run("planes")), with);
}

TEST_F(ScenePlanes, OfAnotherNumberAreSearched) {
  run("planes");
  options_.scene_planes = 1;
  const auto one = run("planes");
  EXPECT_TRUE(searched(*one));
  const nlohmann::json& result = one->products.results.get({Step::kPlanes})->result;
  EXPECT_EQ(result.at("planes").size() - result.at("levels").get<std::size_t>(), 1u);
  EXPECT_GT(result.at("levels"), 0) << "the floor is no plane then, and is found as the ground";
  expect_equal(results(*one), results(*run("one")));
}

TEST_F(ScenePlanes, AreSearchedAgainAfterAPhotoChanged) {
  run("planes");
  Image<Rgb8> image = read_image(photo(2));
  for (int y = 20; y < 40; ++y)
    for (int x = 30; x < 60; ++x) image(x, y) = {10, 120, static_cast<std::uint8_t>(x * y % 256)};
  write_image(photo(2), std::as_const(image).view());
  const auto changed = run("planes");
  EXPECT_TRUE(searched(*changed));
  expect_equal(results(*changed), results(*run("new")));
}

TEST_F(ScenePlanes, AreSearchedAgainAfterAMaskChanged) {
  const auto whole = results(*run("planes"));
  Image<std::uint8_t> mask(120, 90, std::uint8_t{255});
  for (int y = 20; y < 50; ++y)
    for (int x = 40; x < 90; ++x) mask(x, y) = 0;
  fs::create_directories(folder_ / "masks");
  write_image(folder_ / "masks" / (photo(2).filename().string() + ".png"), std::as_const(mask).view());
  const auto masked = run("planes");
  EXPECT_TRUE(searched(*masked));
  expect_equal(results(*masked), results(*run("new")));
  const ViewPlan& plan = masked->plan.view(2);
  const auto maps = masked->products.maps.get(MapKind::kGeometric, plan.output_name, plan.camera);
  for (int y = 21; y < 49; ++y)
    for (int x = 41; x < 89; ++x)
      ASSERT_TRUE(std::isnan(maps->depth(x, y))) << "a plane fills an ignored pixel " << x << " " << y;
  fs::remove_all(folder_ / "masks");
  const auto again = run("planes");
  EXPECT_TRUE(searched(*again));
  expect_equal(results(*again), whole);
}

TEST_F(ScenePlanes, AreSearchedAgainWhereAFileIsDamagedOrMissing) {
  const auto whole = results(*run("planes"));
  const std::string bytes = content(areas("planes", 1));
  const auto expect_made_again = [&](const char* what) {
    const auto job = run("planes");
    EXPECT_TRUE(searched(*job)) << what;
    expect_equal(results(*job), whole);
  };
  std::ofstream(areas("planes", 1), std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  expect_made_again("half a file");
  fs::remove(areas("planes", 4));
  expect_made_again("no file");
  fs::copy_file(areas("planes", 0), areas("planes", 3), fs::copy_options::overwrite_existing);
  expect_made_again("the areas of another view");
  std::ofstream(record("planes")) << "{";
  expect_made_again("a damaged record");
  fs::remove(record("planes"));
  expect_made_again("no record");
}

/// Values that the check reads.
TEST_F(ScenePlanes, AreSearchedAgainWhereTheirRecordHasOtherTypes) {
  const auto whole = results(*run("planes"));
  const nlohmann::json before = nlohmann::json::parse(content(record("planes")));
  const std::string name = before.at("result").at("areas").begin().key();
  using Change = std::function<void(nlohmann::json&)>;
  const std::vector<std::pair<const char*, Change>> changes = {
      {"planes null", [](auto& it) { it["planes"] = nullptr; }},
      {"planes a number", [](auto& it) { it["planes"] = 3; }},
      {"a plane of 3 numbers", [](auto& it) { it["planes"][0].erase(3); }},
      {"a plane of text", [](auto& it) { it["planes"][0][1] = "up"; }},
      {"no planes", [](auto& it) { it.erase("planes"); }},
      {"areas a list", [](auto& it) { it["areas"] = {1}; }},
      {"a share of text", [&](auto& it) { it["areas"][name] = "half"; }},
      {"no areas", [](auto& it) { it.erase("areas"); }},
      {"priors a list", [](auto& it) { it["priors"] = {1}; }},
      {"a prior of a number", [&](auto& it) { it["priors"][name] = 1; }},
      {"a share of a prior of text",
       [&](auto& it) {
         it["priors"][name] = {{"right", "half"}};
       }},
      {"a kind of a number", [](auto& it) { it["prior_kind"] = 1; }}};
  for (const auto& [what, change] : changes) {
    SCOPED_TRACE(what);
    nlohmann::json record_now = before;
    change(record_now["result"]);
    std::ofstream(record("planes")) << record_now.dump();
    const auto job = run("planes");
    EXPECT_TRUE(searched(*job));
    expect_equal(results(*job), whole);
  }
}

/// Also where the areas of a view and its sources stay: depths on moved planes are others.
TEST_F(ScenePlanes, ThatMovedAreOtherInputsOfTheCheck) {
  const auto job = run("planes");
  const nlohmann::json before = job->inputs.check(0, {1});
  StepRecord record = *job->products.results.get({Step::kPlanes});
  job->products.results.put({Step::kPlanes}, record);
  EXPECT_EQ(job->inputs.check(0, {1}), before);
  record.result["planes"][0][3] = 1.5;
  job->products.results.put({Step::kPlanes}, record);
  EXPECT_NE(job->inputs.check(0, {1}), before);
}

TEST_F(ScenePlanes, OfStagesAreThoseOfOneRun) {
  const auto whole = results(*run("whole"));
  options_.stage = Stage::kEstimate;
  const auto estimated = run("parts");
  EXPECT_EQ(estimated->products.results.count(Step::kEstimate).done, kPlainViews);
  EXPECT_FALSE(fs::exists(record("parts"))) << "planes belong to the fusion";
  options_.stage = Stage::kFuse;
  const auto fused = run("parts");
  EXPECT_TRUE(searched(*fused));
  expect_equal(results(*fused), whole);
  EXPECT_FALSE(searched(*run("parts")));
}

TEST_F(ScenePlanes, AreTheSameForAnyNumberOfThreads) {
  const auto of = [&](int threads) {
    return ThreadLimit(threads).run([&] { return results(*run("threads" + std::to_string(threads))); });
  };
  const auto one = of(1);
  expect_equal(of(2), one);
  expect_equal(of(5), one);
}

/// Beside the estimation, as on a GPU, and where a device fails.
TEST_F(ScenePlanes, DoNotDependOnTheDevice) {
  const auto expected = results(*run("host"));
  Backends gpu;
  const WatchedBackend& device = add_backend(
      gpu, "gpu", [] {}, [] {}, 2, std::size_t{1} << 20);
  const auto job = run("gpu", gpu);
  EXPECT_GT(job->memory.checks_beside, 0);
  EXPECT_EQ(device.checks(), 2 * kPlainViews) << "for the planes, and for the check";
  expect_equal(results(*job), expected);

  Backends two;
  add_backend(two, "good");
  add_backend(two, "lost").fail_to_check();
  const auto without = run("lost", two);
  EXPECT_EQ(without->findings.warnings,
            std::vector<std::string>{"lost fails, the check continues without it: the device is lost"});
  expect_equal(results(*without), expected);
}

TEST_F(ScenePlanes, APlanHasTheWorkOfTheRun) {
  const auto first = begin("planes");
  EXPECT_EQ(first->remaining_work().at(Step::kPlanes).size(), static_cast<std::size_t>(kPlainViews));
  run("planes");
  for (const auto& [step, views] : begin("planes")->remaining_work())
    EXPECT_TRUE(views.empty()) << step_name(step);
  fs::remove(areas("planes", 1));
  const SceneWork planned = begin("planes")->remaining_work();
  const auto job = run("planes");
  const SceneWork done = work_done(job->targets, job->products);
  EXPECT_TRUE(planned.at(Step::kEstimate).empty());
  EXPECT_EQ(planned.at(Step::kPlanes), done.at(Step::kPlanes));
  EXPECT_EQ(planned.at(Step::kPlanes).size(), static_cast<std::size_t>(kPlainViews));
}

/// The sizes of large photos: areas are those of smaller images.
TEST(PlaneImages, HaveNoSideOfMoreThan640Pixels) {
  for (const auto& [width, height, factor] :
       {std::array{640, 480, 1}, std::array{641, 480, 2}, std::array{480, 641, 2}, std::array{1280, 960, 2},
        std::array{1281, 960, 3}, std::array{6000, 4000, 10}, std::array{1, 1, 1}})
    EXPECT_EQ(plane_image_factor({width, height, 1, 1, 1, 1}), factor) << width << " x " << height;
}

}  // namespace
}  // namespace recon

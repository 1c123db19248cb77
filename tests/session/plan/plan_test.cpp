// The plan of a scene, on a row of cameras.

#include "session/plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "scene/camera.hpp"
#include "session/row_of_views.hpp"

namespace recon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Plan, GivesEveryViewSourcesRangeAndPlanes) {
  const ScenePlan plan = make_plan(row_of_views(6, kPinholeCamera), {}, SceneSettings(options_with()));
  EXPECT_EQ(plan.active_views().size(), 6u);
  for (const int view : plan.active_views()) {
    const ViewPlan& it = plan.view(view);
    EXPECT_EQ(it.planes, 16);
    EXPECT_TRUE(it.unchanged);
    EXPECT_LT(it.range.near, 4.0);
    EXPECT_GT(it.range.far, 4.6);
    EXPECT_FALSE(it.sources.empty());
    const PlaneSet planes = sweep_problem(plan, view, SceneSettings(options_with()).matching).planes;
    EXPECT_NEAR(1 / inverse_depth(planes, 0), it.range.far, 1e-4);
    EXPECT_NEAR(1 / inverse_depth(planes, 15), it.range.near, 1e-4);
  }
}

TEST(Plan, NeedsPhotosFromDifferentPlaces) {
  const auto refusal = [](const Scene& scene) {
    try {
      make_plan(scene, {}, SceneSettings(options_with()));
      return std::string();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  for (const double offset : {0.0, 1e6}) {  // of the world
    Scene scene = row_of_views(6, kPinholeCamera);
    for (std::size_t i = 0; i < scene.views.size(); ++i)
      scene.views[i].cam_from_world.translation = {offset * (1 + 1e-16 * static_cast<double>(i)), 0, 0};
    EXPECT_THAT(refusal(scene),
                HasSubstr("there is no baseline, for all 6 photos were taken from the same place"));
    scene.points.clear();
    for (View& view : scene.views) view.observations.clear();
    EXPECT_THAT(refusal(scene), HasSubstr("there is no baseline")) << "without points too";
  }
  Scene close = row_of_views(6, kPinholeCamera);
  for (View& view : close.views) view.cam_from_world.translation.x *= 1e-6;
  EXPECT_THAT(refusal(close), HasSubstr("there is no baseline")) << "far closer than the points";
}

TEST(Plan, GivesEveryViewRectifiedPairsWithItsSources) {
  SessionOptions options;
  options.method = Method::kSemiGlobal;
  const ScenePlan plan = make_plan(row_of_views(6, kPinholeCamera), {}, SceneSettings(options));
  EXPECT_EQ(plan.active_views().size(), 6u);
  for (const int view : plan.active_views()) {
    const ViewPlan& it = plan.view(view);
    EXPECT_EQ(it.planes, 0);
    ASSERT_EQ(it.pairs.size(), it.sources.size());
    for (std::size_t i = 0; i < it.pairs.size(); ++i) {
      EXPECT_EQ(it.pairs[i].source, it.sources[i]);
      EXPECT_NEAR(it.pairs[i].pair.baseline, 0.2 * std::abs(it.pairs[i].source - view), 1e-12);
      // f b / z over the depths, and one more at each end.
      const double f_b = 150 * it.pairs[i].pair.baseline;
      EXPECT_NEAR(it.pairs[i].pair.disparities, f_b / it.range.near - f_b / it.range.far + 3, 1.5);
    }
  }
}

TEST(Plan, ShardsArePartsOfTheWholeWhateverIsLeftOut) {
  const Scene scene = row_of_views(6, kPinholeCamera);
  std::multiset<std::string> names;
  for (int index = 1; index <= 3; ++index) {
    // Only the first shard knows that a photo is bad.
    const std::vector<LeftOut> left_out =
        index == 1 ? std::vector<LeftOut>{{"v0.png", "bad"}} : std::vector<LeftOut>{};
    const ScenePlan plan = make_plan(scene, left_out, SceneSettings(options_with(index, 3)));
    for (const int view : plan.active_views()) names.insert(plan.name(view));
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("v1.png", "v2.png", "v3.png", "v4.png", "v5.png"));
}

TEST(Plan, ShardsCountTheViewsThatTheModelLacks) {
  const Scene whole = row_of_views(6, kPinholeCamera);
  Scene lacking = keep_views(whole, {0, 2, 3, 5});
  lacking.unusable = {{"v1.png", "bad"}, {"v4.png", "bad"}};
  std::multiset<std::string> names;
  for (int index = 1; index <= 3; ++index) {
    const ScenePlan plan = make_plan(index == 2 ? whole : lacking, {}, SceneSettings(options_with(index, 3)));
    for (const int view : plan.active_views()) names.insert(plan.name(view));
  }
  EXPECT_THAT(names,
              testing::UnorderedElementsAre("v0.png", "v1.png", "v2.png", "v3.png", "v4.png", "v5.png"));
}

TEST(Plan, LeavesViewsOutAsReferenceAndAsSource) {
  const ScenePlan plan =
      make_plan(row_of_views(5, kPinholeCamera), {{"v2.png", "gone"}}, SceneSettings(options_with()));
  ASSERT_EQ(plan.views.size(), 4u);
  for (std::size_t i = 0; i < plan.views.size(); ++i) {
    EXPECT_NE(plan.scene.views[i].name, "v2.png");
    for (const int source : plan.views[i].sources) EXPECT_LT(source, 4);
  }
  expect_consistent(plan.scene);
}

TEST(Plan, SaysWhyNothingCanBeDone) {
  EXPECT_THROW(make_plan(row_of_views(1, kPinholeCamera), {}, SceneSettings(options_with())), InputError);
  SessionOptions nothing = options_with();
  nothing.views = "w*";
  EXPECT_THROW(make_plan(row_of_views(3, kPinholeCamera), {}, SceneSettings(nothing)), InputError);
}

TEST(Plan, SpeaksOfViewsOnlyWhereTheyWereGiven) {
  SessionOptions options = options_with();
  const auto refusal = [&](const Scene& scene, const std::vector<LeftOut>& left_out) {
    return message_of<InputError>([&] { make_plan(scene, left_out, SceneSettings(options)); });
  };
  EXPECT_THAT(
      refusal(row_of_views(2, kPinholeCamera), {{"v0.png", "v0.png: is a pipe"}}),
      HasSubstr("too few views: 1 of 2 can be used, and depth needs at least 2; left out is, for one, "
                "v0.png: is a pipe"));
  options.views = "v2*";
  EXPECT_THAT(refusal(row_of_views(5, kPinholeCamera), {}), Not(HasSubstr("--views")));
  options.given["views"] = {options.views, ""};
  EXPECT_THAT(refusal(row_of_views(5, kPinholeCamera), {}),
              HasSubstr("--views 'v2*' matches v2.png alone, without any of its source views, such as v"));
}

TEST(Plan, NamesUndistortedImagesByAFormatThatCanBeWritten) {
  Scene scene = row_of_views(3, kRadialCamera);
  scene.views[1].name = "v1.TIF";
  scene.views[2].name = "v2.JPG";
  const ScenePlan plan = make_plan(scene, {}, SceneSettings(options_with()));
  EXPECT_FALSE(plan.views[0].unchanged);
  EXPECT_EQ(plan.views[0].output_name, "v0.png");
  EXPECT_EQ(plan.views[1].output_name, "v1.TIF.png");
  EXPECT_EQ(plan.views[2].output_name, "v2.JPG");
}

TEST(Plan, GivesConvertedImagesNamesOfTheirOwn) {
  Scene scene = row_of_views(4, kRadialCamera);
  const std::vector<std::string> names = {"a.tif", "a.tif.png", "b.png", "c.tif"};
  for (std::size_t i = 0; i < names.size(); ++i) scene.views[i].name = names[i];
  const ScenePlan plan = make_plan(scene, {}, SceneSettings(options_with()));
  EXPECT_EQ(plan.views[0].output_name, "a.tif.1.png");
  EXPECT_EQ(plan.views[1].output_name, "a.tif.png");
  EXPECT_EQ(plan.views[2].output_name, "b.png");
  EXPECT_EQ(plan.views[3].output_name, "c.tif.png");
}

TEST(Plan, RefusesACloudOfViewsWithoutTheirSources) {
  SessionOptions options = options_with();
  options.views = "v2*";
  EXPECT_THROW(make_plan(row_of_views(5, kPinholeCamera), {}, SceneSettings(options)), InputError);
  options.stage = Stage::kEstimate;
  EXPECT_EQ(make_plan(row_of_views(5, kPinholeCamera), {}, SceneSettings(options)).views_in_scope().size(),
            1u);
}

TEST(Plan, HalvesTheImagesOfADraftOnly) {
  const auto size = [](Quality quality, int max_image_size) {
    SessionOptions options = options_with();
    options.quality = quality;
    options.max_image_size = max_image_size;
    const ScenePlan plan = make_plan(row_of_views(4, kPinholeCamera), {}, SceneSettings(options));
    const Pinhole& camera = plan.view(0).camera;
    return std::pair(camera.width, camera.height);
  };
  EXPECT_EQ(size(Quality::kDraft, 0), std::pair(100, 75));
  EXPECT_EQ(size(Quality::kNormal, 0), std::pair(200, 150));
  EXPECT_EQ(size(Quality::kHigh, 0), std::pair(200, 150));
  EXPECT_EQ(size(Quality::kDraft, 160), std::pair(160, 120)) << "a size that is given stays";
}

TEST(Plan, ReducesLargePhotosUnlessQualityIsHigh) {
  const auto planned = [](const Scene& scene, Quality quality, const char* maps = "", int side = 0) {
    SessionOptions options = options_with();
    options.quality = quality;
    options.given_maps.folder = maps;
    options.max_image_size = side;
    const SceneSettings settings(options);
    const ScenePlan plan = make_plan(scene, {}, settings);
    return std::tuple(plan.view(0).camera.width, plan.view(3).camera.height,
                      reduced_images_text(plan, settings.plan.images));
  };
  const Scene large = row_of_views(4, {CameraModel::kPinhole, 4000, 3000, {3000, 3000, 2000, 1500}});
  const auto text = [](int side) {
    return "4 images are reduced to " + std::to_string(side) + " pixels; --quality high keeps their size";
  };
  EXPECT_EQ(planned(large, Quality::kNormal), std::tuple(1600, 1200, text(1600)));
  EXPECT_EQ(planned(large, Quality::kDraft),
            std::tuple(800, 600,
                       "4 images are reduced to half of their size, 800 pixels at most; --quality normal "
                       "keeps more"));
  EXPECT_EQ(
      planned(large, Quality::kDraft, "maps"),
      std::tuple(2000, 1500, "4 images are reduced to half of their size; --quality normal keeps more"));
  EXPECT_EQ(planned(large, Quality::kHigh), std::tuple(4000, 3000, ""));
  EXPECT_EQ(planned(large, Quality::kNormal, "maps"), std::tuple(4000, 3000, "")) << "as large as their maps";
  EXPECT_EQ(planned(large, Quality::kNormal, "", 3000), std::tuple(3000, 2250, "")) << "a given size stays";
  Scene one = large;
  for (int i = 0; i < 3; ++i) one.views[i].camera = 1;
  one.cameras.push_back(row_of_views(4, kPinholeCamera).cameras[0]);
  EXPECT_EQ(planned(one, Quality::kNormal),
            std::tuple(200, 1200, "1 image is reduced to 1600 pixels; --quality high keeps its size"));
  EXPECT_EQ(planned(one, Quality::kDraft),
            std::tuple(100, 600,
                       "4 images are reduced to half of their size, 800 pixels at most; --quality normal "
                       "keeps more"))
      << "small ones too";
  EXPECT_EQ(std::get<2>(planned(row_of_views(4, kPinholeCamera), Quality::kDraft)),
            "4 images are reduced to half of their size; --quality normal keeps more");
  Scene faces = large;
  PhotoFace face;
  face.lens = large.cameras[0];
  face.lens.width *= 4, face.lens.height *= 2;
  for (View& view : faces.views) {
    face.photo = view.name;
    view.face = std::make_shared<const PhotoFace>(face);
  }
  EXPECT_EQ(planned(faces, Quality::kNormal), std::tuple(1600, 1200, text(1600))) << "not as its photo";
}

TEST(Plan, SaysWhichBoundsLeaveOutAllThatThePointsShow) {
  const auto warnings_of = [](std::optional<double> near, std::optional<double> far) {
    SessionOptions options = options_with();
    options.depth_min = near, options.depth_max = far;
    return make_plan(row_of_views(4, kPinholeCamera), {}, SceneSettings(options)).warnings;
  };
  EXPECT_THAT(warnings_of(100, {}), ElementsAre(HasSubstr("--depth-min 100: the sparse")));
  EXPECT_THAT(warnings_of({}, 0.1), ElementsAre(HasSubstr("--depth-max 0.1: the sparse")));
  EXPECT_THAT(warnings_of(4.2, 4.5), IsEmpty());
}

TEST(Plan, ExpectsDepthsThatItSearches) {
  SessionOptions options = options_with();
  using Bounds = std::pair<std::optional<double>, std::optional<double>>;
  for (const auto& [near, far] :
       {Bounds{0.5, {}}, {5, {}}, {30, {}}, {70, {}}, {1e6, {}}, {{}, 3}, {{}, 1e-3}}) {
    options.depth_min = near, options.depth_max = far;
    for (const ViewPlan& view :
         make_plan(row_of_views(4, kPinholeCamera), {}, SceneSettings(options)).views) {
      EXPECT_GE(view.expected.near, view.range.near) << near.value_or(0) << " " << far.value_or(0);
      EXPECT_LE(view.expected.far, view.range.far) << near.value_or(0) << " " << far.value_or(0);
    }
  }
}

TEST(Plan, LimitsThePlanesOfAutoAndSaysSo) {
  SessionOptions options;
  const auto plan_of = [&](double near) {
    options.depth_min = near, options.depth_max = 40;
    return make_plan(row_of_views(4, kPinholeCamera), {}, SceneSettings(options));
  };
  // Cameras up to 0.6 apart, f = 150: the pixels move by 90 / near, less 2 at the far end.
  const ScenePlan wide = plan_of(4.0);
  for (const ViewPlan& view : wide.views) EXPECT_LT(view.planes, 30);
  EXPECT_EQ(plane_limit_note(wide), "");
  const ScenePlan close = plan_of(0.05);
  for (const ViewPlan& view : close.views) EXPECT_EQ(view.planes, kMaxAutoPlanes);
  EXPECT_THAT(plane_limit_note(close), HasSubstr("limited to 256"));
  EXPECT_THAT(plane_limit_note(close), HasSubstr("in 4 views; --planes N"));
  options.planes = 16;
  EXPECT_EQ(plane_limit_note(plan_of(0.05)), "");
}

TEST(Plan, OfPatchesSweepsHalvedImagesWithFewerPlanes) {
  SessionOptions options, patches = parse_options({});
  options.depth_min = patches.depth_min = 0.4, options.depth_max = patches.depth_max = 40;
  patches.use(Method::kPlaneSweep).patch_match.levels = 2;
  const auto plan_of = [](int width, int height, const SessionOptions& given) {
    const Camera camera{CameraModel::kPinhole, width, height, {150, 150, 0.5 * width, 0.5 * height}};
    return make_plan(row_of_views(4, camera), {}, SceneSettings(given));
  };
  for (const auto& [width, height, levels] :
       {std::array{661, 641, 2}, {661, 640, 2}, {661, 639, 1}, {320, 703, 1}, {319, 703, 0}}) {
    const ScenePlan swept = plan_of(width, height, options), plan = plan_of(width, height, patches);
    for (std::size_t i = 0; i < plan.views.size(); ++i) {
      EXPECT_EQ(swept.views[i].levels, 0);
      EXPECT_EQ(plan.views[i].levels, levels) << width << " " << height;
      EXPECT_EQ(plan.views[i].planes, std::clamp(swept.views[i].wanted_planes >> levels, 32, 256));
    }
    const SweepProblem problem = sweep_problem(plan, 0, SceneSettings(patches).matching);
    EXPECT_EQ(problem.patch_match.levels, levels);
    ASSERT_EQ(problem.coarser.size(), static_cast<std::size_t>(levels));
    int size = 1;
    for (const SweepImages& images : problem.coarser) {
      size *= 2;
      ASSERT_EQ(images.sources.size(), problem.sources.size());
      for (const PosedImage* image : {&images.reference, &images.sources.back()}) {
        EXPECT_EQ(image->camera.width, (width + size - 1) / size);
        EXPECT_EQ(image->camera.height, (height + size - 1) / size);
        EXPECT_EQ(image->camera.fx, 150.0 / size);
      }
    }
    EXPECT_TRUE(sweep_problem(swept, 0, SceneSettings(options).matching).coarser.empty());
  }
  patches.planes = 16;
  EXPECT_EQ(plan_of(661, 641, patches).views[0].planes, 16)
      << "planes that are given are those of the coarse sweep";
}

}  // namespace
}  // namespace recon

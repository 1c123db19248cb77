// Depth maps of other programs that are no depths along the axis in scene units: a warning names the likely
// cause, and right maps have none.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/given_map_fixture.hpp"
#include "core/pixels.hpp"
#include "scene/pinhole.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class GivenMapCheck : public GivenDepthMaps {
 protected:
  /// Gives the maps of the program, each depth changed by its value and the length of its ray.
  void give(const std::function<double(double depth, double ray)>& change) const {
    const std::vector<double> p = model().cameras.front().params;
    const Pinhole camera{96, 72, p[0], p[1], p[2], p[3]};
    for (const std::string& view : kNames) {
      Image<float> map = own_map(view);
      for (int y = 0; y < map.height(); ++y)
        for (int x = 0; x < map.width(); ++x)
          map(x, y) = static_cast<float>(change(map(x, y), norm(camera.ray(pixel_centre(x, y)))));
      write_pfm(maps() / (view + ".pfm"), map.view());
    }
  }

  void give_half_size() const {
    for (const std::string& view : kNames) {
      const Image<float> map = own_map(view);
      Image<float> half(map.width() / 2, map.height() / 2);
      for (int y = 0; y < half.height(); ++y)
        for (int x = 0; x < half.width(); ++x) half(x, y) = map(2 * x, 2 * y);
      write_pfm(maps() / (view + ".pfm"), half.view());
    }
  }

  void remove_points() const {
    Scene model = this->model();
    for (View& view : model.views) view.observations.clear();
    model.points.clear();
    set_model(model);
  }

  /// The warnings of the report, which are those of standard error.
  std::vector<std::string> warnings(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"--overwrite"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = fuse(words);
    const fs::path report = dense() / "report.json";
    std::vector<std::string> texts;
    if (!fs::exists(report)) return {outcome.err};
    const auto object = nlohmann::json::parse(content(report));
    for (const auto& text : object.at("warnings")) {
      texts.push_back(text);
      EXPECT_THAT(outcome.err, HasSubstr("warning: " + texts.back()));
    }
    fs::remove(report);
    return texts;
  }
};

double as_they_are(double depth, double) {
  return depth;
}
double in_millimetres(double depth, double) {
  return 1000 * depth;
}
double as_distance(double depth, double ray) {
  return depth * ray;
}
double as_inverse(double depth, double) {
  return 1 / depth;
}

TEST_F(GivenMapCheck, RightMapsHaveNoWarning) {
  give(as_they_are);
  EXPECT_THAT(warnings(), IsEmpty());
  give(in_millimetres);
  EXPECT_THAT(warnings({"--depth-unit", "0.001"}), IsEmpty());
  give_half_size();
  EXPECT_THAT(warnings({"--max-image-size", "48"}), IsEmpty());
  remove_points();
  give(as_they_are);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(GivenMapCheck, AnotherUnitIsNamed) {
  const auto names_unit = [](const char* with, const char* unit) {
    return ElementsAre(
        AllOf(HasSubstr("the depths are 1000 times those of "), HasSubstr(with), HasSubstr(unit)));
  };
  give(in_millimetres);
  EXPECT_THAT(warnings(), names_unit("of the sparse points of ", "give --depth-unit 0.001"));
  give(as_they_are);
  EXPECT_THAT(warnings({"--depth-unit", "1000"}), names_unit("of the sparse points of ", "--depth-unit 1"));
  remove_points();
  give(in_millimetres);
  EXPECT_THAT(warnings(), names_unit("of other views ", "give --depth-unit 0.001"));
}

TEST_F(GivenMapCheck, DistancesAreNamed) {
  const auto names_distances = [](const char* with) {
    return ElementsAre(AllOf(HasSubstr(with), HasSubstr("distances to the camera, and have to be z along the "
                                                        "viewing axis; divide each by ")));
  };
  give(as_distance);
  EXPECT_THAT(warnings(), names_distances("against those of the sparse points of "));
  remove_points();
  EXPECT_THAT(warnings(), names_distances("against those of other views "));
}

TEST_F(GivenMapCheck, InverseDepthsAreNamed) {
  give(as_inverse);
  EXPECT_THAT(warnings().front(), AllOf(HasSubstr("the depths do not fit the sparse points of "),
                                        HasSubstr("are they disparities, inverse or relative depths")));
}

TEST_F(GivenMapCheck, ScalesOfViewsAreNamedWithTheViews) {
  const std::map<std::string, float> scales = {{"view00", 1.3F}, {"view01", 0.8F}, {"view03", 1.15F}};
  for (const std::string& view : kNames) {
    const float scale = scales.contains(view) ? scales.at(view) : 1;
    write_pfm(maps() / (view + ".pfm"),
              mapped<float>(own_map(view), [&](float depth) { return scale * depth; }).view());
  }
  EXPECT_THAT(warnings(),
              ElementsAre(AllOf(HasSubstr("maps have scales of their own: their depths are so many times "
                                          "those of the sparse points of "),
                                HasSubstr(": 3 of 5 views (view00.png 1.3, view01.png 0.8"),
                                HasSubstr("view03.png 1.15)"))));
  remove_points();
  EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("those of other views: "), HasSubstr("view00.png 1."))));
}

TEST_F(GivenMapCheck, OfMapsWhoseDepthsFitNothingNoCloudIsMade) {
  const auto expect_refused = [&](const char* text) {
    const Outcome outcome = fuse({"--overwrite"});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("error: --depth-maps " + maps().string() + ": "), HasSubstr(text)));
    EXPECT_FALSE(fs::exists(dense() / "fused.ply"));
  };
  give(as_inverse);
  expect_refused("the depths do not fit the sparse points of ");
  std::minstd_rand random(7);
  std::uniform_real_distribution<double> exponent(-1, 1);
  const auto noise = [&](double, double) { return 3 * std::exp(exponent(random)); };
  give(noise);
  expect_refused("5 of 5 views (view00.png, view01.png, ");
  remove_points();
  expect_refused("the depths do not fit other views: ");
  give([](double, double) { return 3.0; });
  expect_refused("maps have the same depth everywhere: 5 of 5 views");
}

TEST_F(GivenMapCheck, AMapOfAnotherImageIsNamed) {
  give(as_they_are);
  Image<float> upside_down = own_map("view02");
  for (int y = 0; y < upside_down.height() / 2; ++y)
    std::swap_ranges(upside_down.row(y), upside_down.row(y) + upside_down.width(),
                     upside_down.row(upside_down.height() - 1 - y));
  write_pfm(maps() / "view02.pfm", upside_down.view());
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("in 1 of 5 views (view02.png)")));
  remove_points();
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("in 1 of 5 views (view02.png)")));
}

TEST_F(GivenMapCheck, MapsThatAreWrongAsAWholeAreRepeatedInTheLastLine) {
  const auto last_line = [&] { return fuse({"--overwrite"}).out; };
  const auto in_doubt = [](const std::string& text) {
    return HasSubstr("; THE RESULT IS IN DOUBT: " + text + ": correct that and run again; 1 warning");
  };
  give(as_they_are);
  EXPECT_THAT(last_line(), Not(HasSubstr("DOUBT")));
  give([](double depth, double) { return 10 * depth; });
  EXPECT_THAT(last_line(), in_doubt("the given depths are 10 times those of the scene"));
  give(as_distance);
  EXPECT_THAT(last_line(), in_doubt("the given depths seem to be distances to the camera"));
  const std::map<std::string, float> scales = {{"view00", 1.3F}, {"view01", 0.8F}, {"view03", 1.15F}};
  for (const std::string& view : kNames) {
    const float scale = scales.contains(view) ? scales.at(view) : 1;
    write_pfm(maps() / (view + ".pfm"),
              mapped<float>(own_map(view), [&](float depth) { return scale * depth; }).view());
  }
  EXPECT_THAT(last_line(),
              in_doubt("most given depth maps are not in the scale of the scene, or not of their images"));
  for (const std::string& view : kNames) {
    Image<float> map = own_map(view);
    for (int y = 0; y < map.height(); ++y) std::reverse(map.row(y), map.row(y) + map.width());
    write_pfm(maps() / (view + ".pfm"), map.view());
  }
  EXPECT_THAT(last_line(), in_doubt("the given depth maps seem to be mirrored"));
}

TEST_F(GivenMapCheck, SmallerMapsAreNamed) {
  give_half_size();
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr(
                              "the maps have fewer pixels than the images, such as 48x36 for "
                              "view00.png, whose image has 96x72: a value that is taken for several "
                              "pixels is no surface, so that edges and slopes have steps; where all maps "
                              "are so small, give --max-image-size 48")));
}

TEST_F(GivenMapCheck, IsSaidAgainWhereTheMapsAreKept) {
  give(as_distance);
  EXPECT_THAT(fuse().err, HasSubstr("distances to the camera"));
  EXPECT_THAT(fuse().err,
              AllOf(HasSubstr("5 of 5 views are finished and kept"), HasSubstr("distances to the camera")));
}

}  // namespace
}  // namespace recon

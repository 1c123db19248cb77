// Photos that contradict their poses, and photos that show nothing, are named; good ones are not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "cli/scene_fixture.hpp"
#include "io/image/image_file.hpp"
#include "scene/pose.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

/// A pose whose camera is rolled about its axis.
Pose rolled(const Pose& pose, double degrees) {
  const double c = std::cos(degrees * std::acos(-1.0) / 180), s = std::sin(degrees * std::acos(-1.0) / 180);
  return Pose{{{c, -s, 0, s, c, 0, 0, 0, 1}}, {0, 0, 0}} * pose;
}

class PhotoDoubt : public SceneTest {
 protected:
  static std::vector<std::string> warnings(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.json().at("scenes").at(0).at("warnings").get<std::vector<std::string>>();
  }

  void replace_scene(const std::vector<std::string>& options) const {
    fs::remove_all(scene());
    render(scene(), options);
  }

  void write_photo(const std::string& name, const Image<Rgb8>& photo) const {
    write_image(scene() / "images" / name, photo.view());
  }

  void write_photo(const std::string& name, std::uint8_t level) const {
    write_photo(name, Image<Rgb8>(96, 72, {level, level, level}));
  }
};

TEST_F(PhotoDoubt, PosesOfSmallPhotosThatAreTurnedByADegreeAndAHalfAreNoticed) {
  replace_scene({"--width", "256"});
  EXPECT_THAT(warnings(reconstruct({scene().string(), "--dry-run", "--json"})), IsEmpty());
  Scene wrong = model();
  for (View& view : wrong.views) view.cam_from_world = rolled(view.cam_from_world, 1.5);
  set_model(wrong);
  EXPECT_THAT(
      warnings(reconstruct({scene().string(), "--dry-run", "--json"})),
      ElementsAre(AllOf(HasSubstr("cameras and poses do not fit the sparse points: "),
                        testing::ContainsRegex("is [12]\\.[0-9] pixels \\(0\\.[0-9] with each photo shifted"),
                        HasSubstr("in 5 of 5 views too large"))));
  wrong = model();
  for (View& view : wrong.views)
    if (view.name != "view02.png") view.cam_from_world = rolled(view.cam_from_world, -1.5);
  set_model(wrong);
  EXPECT_THAT(warnings(reconstruct({scene().string(), "--dry-run", "--json"})),
              ElementsAre(HasSubstr("view02.png: its pose or its camera does not fit the sparse points")));
}

TEST_F(PhotoDoubt, PhotosThatShowNothingAreNamedWithWhatTheyAre) {
  replace_scene({"--views", "9"});
  Image<Rgb8> gradient(96, 72);
  for (int y = 0; y < 72; ++y)
    for (int x = 0; x < 96; ++x) gradient(x, y) = {std::uint8_t(60 + x), 90, std::uint8_t(60 + x)};
  write_photo("view01.png", 0);
  write_photo("view03.png", 255);
  write_photo("view05.png", 120);
  write_photo("view07.png", gradient);
  const Outcome outcome = reconstruct({scene().string(), "--json", "--quality", "draft"});
  EXPECT_THAT(warnings(outcome),
              UnorderedElementsAre(HasSubstr("view01.png: its photo is black, so that it has no depths"),
                                   HasSubstr("view03.png: its photo is white"),
                                   HasSubstr("view05.png: its photo is of one colour"),
                                   HasSubstr("view07.png: its photo is without any detail")));
  EXPECT_THAT(content(dense() / "report.json"), HasSubstr("view01.png: its photo is black"));
  write_photo("view03.png", 3);
  EXPECT_THAT(reconstruct({scene().string(), "--stage", "estimate", "--quality", "draft"}).err,
              AllOf(HasSubstr("2 photos are black, so that their views have no depths, such as view01.png"),
                    HasSubstr("view05.png: its photo is of one colour")))
      << "also where views are finished and kept";
}

TEST_F(PhotoDoubt, WhatOtherViewsConfirmIsNotDoubted) {
  const Scene right = model();
  const auto turn = [&](double degrees) {
    Scene turned = right;
    turned.points.clear();
    for (View& view : turned.views) view.observations.clear();
    turned.views[2].cam_from_world = rolled(turned.views[2].cam_from_world, degrees);
    set_model(turned);
  };
  const std::string doubt = "view02.png: its photo contradicts its camera or its pose";
  turn(1.1);
  EXPECT_THAT(reconstruct({scene().string(), "--stage", "estimate"}).err, HasSubstr(doubt));
  EXPECT_THAT(warnings(reconstruct({scene().string(), "--json"})), IsEmpty());
  EXPECT_THAT(content(dense() / "report.json"), Not(HasSubstr(doubt)));
  turn(2);
  EXPECT_THAT(warnings(reconstruct({scene().string(), "--json"})),
              ElementsAre(AllOf(HasSubstr(doubt + ": other views confirm "),
                                HasSubstr("it fits when it is turned by 2.0 degrees"))));
}

TEST_F(PhotoDoubt, APhotoThatSharesNothingWithTheOthersIsNamed) {
  std::mt19937 random(5);
  Image<Rgb8> noise(96, 72);
  for (int y = 0; y < 72; ++y)
    for (int x = 0; x < 96; ++x)
      noise(x, y) = {std::uint8_t(random()), std::uint8_t(random()), std::uint8_t(random())};
  write_photo("view02.png", noise);
  EXPECT_THAT(warnings(reconstruct({scene().string(), "--json", "--quality", "draft"})),
              ElementsAre(HasSubstr("view02.png: it does not go together with the other photos: other views "
                                    "confirm 0.0 % of its depths")));
}

}  // namespace
}  // namespace recon

// The maps of areas that planes fill.

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "fuse/planes/area_planes.hpp"
#include "fuse/planes/fill_planes.hpp"
#include "planes_cases.hpp"
#include "reference/plane_match_reference.hpp"

namespace recon {
namespace {

/// The maps of a view of 21 x 15 pixels, of which each label is that of 4 x 4: the last column and row of
/// labels, 5 x 3, are those of the pixels that are left over, too.
struct FilledView {
  static constexpr int kWidth = 21, kHeight = 15, kFactor = 4;

  FilledView()
      : labels(kWidth / kFactor, kHeight / kFactor, kUnlabelled),
        depth(kWidth, kHeight, 1.5f),
        normal(kWidth, kHeight, Vec3f{1, 0, 0}),
        confidence(kWidth, kHeight, 0.75f),
        mask(kWidth, kHeight, std::uint8_t{255}) {}

  void fill(bool masked = false, DepthRange bounds = {0.1, 100}) {
    CheckedMaps maps{depth.view(), normal.view(), confidence.view()};
    if (masked) maps.mask = std::as_const(mask).view();
    fill_planes(labels.view(), kFactor, planes, camera, pose, bounds, maps);
  }
  int label(int x, int y) const {
    return labels(std::min(x / kFactor, labels.width() - 1), std::min(y / kFactor, labels.height() - 1));
  }
  Vec3d point(int plane, int x, int y) const {
    const WorldPlane& it = planes.at(plane);
    return pose * reference::point_on_plane(it.normal, it.offset, camera, pose, pixel_centre(x, y));
  }
  bool kept(int x, int y) const {
    return depth(x, y) == 1.5f && normal(x, y).x == 1 && confidence(x, y) == 0.75f;
  }
  void expect_filled(int x, int y) const {
    const int plane = label(x, y) - 1;
    const double z = point(plane, x, y).z;
    EXPECT_NEAR(depth(x, y), z, 1e-6 * z) << x << " " << y;
    const Vec3d n = pose.rotation * planes.at(plane).normal;
    EXPECT_LT(norm(widened(normal(x, y)) - n), 1e-6) << x << " " << y;
    EXPECT_EQ(confidence(x, y), kFilledConfidence) << x << " " << y;
  }

  Pinhole camera{kWidth, kHeight, 18, 19, 10, 8};
  Pose pose = turned(0.1, -0.2, 0.3, {0.2, 0.1, -0.3});
  std::vector<WorldPlane> planes = {{normalized(Vec3d{0.2, 0.1, -1}), -4},
                                    {normalized(Vec3d{0, -0.3, -1}), -6}};
  Image<std::uint8_t> labels;
  Image<float> depth;
  Image<Vec3f> normal;
  Image<float> confidence;
  Image<std::uint8_t> mask;
};

TEST(FillPlanes, GivesDepthsOfAnImageOfTheSameSize) {
  FilledView view;
  view.labels = Image<std::uint8_t>(FilledView::kWidth, FilledView::kHeight, kUnlabelled);
  view.labels(3, 2) = 1, view.labels(12, 9) = 2, view.labels(5, 5) = kNoSurface, view.labels(6, 5) = 3;
  const Image<float> depths = depths_of_planes(view.labels.view(), view.planes, view.camera, view.pose);
  EXPECT_NEAR(depths(3, 2), view.point(0, 3, 2).z, 1e-5);
  EXPECT_NEAR(depths(12, 9), view.point(1, 12, 9).z, 1e-5);
  EXPECT_TRUE(std::isinf(depths(5, 5)));
  EXPECT_TRUE(std::isinf(depths(6, 5))) << "there is no such plane";
  EXPECT_TRUE(std::isnan(depths(0, 0)));
}

TEST(FillPlanes, SetsThePixelsOfLabels) {
  FilledView view;
  view.labels(1, 1) = 1, view.labels(2, 1) = 2, view.labels(4, 2) = 2, view.labels(0, 2) = 1;
  view.fill();
  int filled = 0;
  for (int y = 0; y < FilledView::kHeight; ++y)
    for (int x = 0; x < FilledView::kWidth; ++x) {
      if (view.label(x, y) == kUnlabelled) {
        EXPECT_TRUE(view.kept(x, y)) << x << " " << y;
        continue;
      }
      view.expect_filled(x, y);
      ++filled;
    }
  EXPECT_EQ(filled, 16 + 16 + 5 * 7 + 4 * 7) << "the last labels reach to the border";
}

TEST(FillPlanes, SetsUnknownPixelsToo) {
  FilledView view;
  view.labels.fill(1);
  view.depth.fill(kUnknown);
  view.normal.fill({kUnknown, kUnknown, kUnknown});
  view.confidence.fill(kUnknown);
  view.fill();
  for (int y = 0; y < FilledView::kHeight; ++y)
    for (int x = 0; x < FilledView::kWidth; ++x) view.expect_filled(x, y);
}

TEST(FillPlanes, KeepsWhatTheMaskIgnores) {
  FilledView view;
  view.labels.fill(1);
  view.mask(6, 5) = 0, view.mask(20, 14) = 0;
  view.fill(true);
  for (int y = 0; y < FilledView::kHeight; ++y)
    for (int x = 0; x < FilledView::kWidth; ++x) {
      if (view.mask(x, y) == 0)
        EXPECT_TRUE(view.kept(x, y));
      else
        view.expect_filled(x, y);
    }
}

/// Also where the memory behind the planes still holds one of a call before.
TEST(FillPlanes, IgnoresLabelsAboveTheNumberOfPlanes) {
  for (const int label : {4, 254}) {
    FilledView view;
    view.planes.assign(4, view.planes[0]);
    view.fill();
    view.planes.pop_back();
    view.labels.fill(static_cast<std::uint8_t>(label));
    view.fill();
    for (int y = 0; y < FilledView::kHeight; ++y)
      for (int x = 0; x < FilledView::kWidth; ++x) EXPECT_TRUE(view.kept(x, y)) << label;
  }
}

TEST(FillPlanes, KeepsDepthsWithinBounds) {
  FilledView view;
  view.labels.fill(1);
  const double low = view.point(0, 3, 7).z, high = view.point(0, 17, 7).z;
  const DepthRange bounds{std::min(low, high) + 1e-9, std::max(low, high) - 1e-9};
  view.fill(false, bounds);
  int outside = 0;
  for (int y = 0; y < FilledView::kHeight; ++y)
    for (int x = 0; x < FilledView::kWidth; ++x) {
      const double z = view.point(0, x, y).z;
      if (z >= bounds.near && z <= bounds.far) {
        view.expect_filled(x, y);
        continue;
      }
      EXPECT_TRUE(view.kept(x, y)) << x << " " << y;
      ++outside;
    }
  EXPECT_GT(outside, 20);
  EXPECT_LT(outside, 250);
}

TEST(FillPlanes, InvalidatesWhatHasNoSurface) {
  FilledView view;
  view.labels(1, 1) = kNoSurface;
  view.mask(6, 5) = 0;
  view.fill(true);
  for (int y = 0; y < FilledView::kHeight; ++y)
    for (int x = 0; x < FilledView::kWidth; ++x) {
      if (view.label(x, y) == kUnlabelled) {
        EXPECT_TRUE(view.kept(x, y)) << x << " " << y;
        continue;
      }
      EXPECT_TRUE(std::isnan(view.depth(x, y))) << x << " " << y;
      EXPECT_TRUE(std::isnan(view.normal(x, y).x)) << x << " " << y;
      EXPECT_TRUE(std::isnan(view.confidence(x, y))) << x << " " << y;
    }
}

/// A plane that the view sees edge-on: rays above the horizon do not meet it.
TEST(FillPlanes, KeepsPixelsWhoseRaysDoNotMeetThePlane) {
  FilledView view;
  view.pose = {};
  view.planes = {{{0, -1, 0}, -1}};
  view.labels.fill(1);
  view.fill(false, {0.1, 1e9});
  for (int y = 0; y < FilledView::kHeight; ++y)
    for (int x = 0; x < FilledView::kWidth; ++x) {
      if (y < 8)
        EXPECT_TRUE(view.kept(x, y)) << x << " " << y;
      else
        view.expect_filled(x, y);
    }
}

}  // namespace
}  // namespace recon

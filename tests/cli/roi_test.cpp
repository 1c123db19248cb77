// A region of interest: which points of the cloud stay, and what a changed one makes stale.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cli/scene_fixture.hpp"
#include "io/cloud/ply.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ReconstructRoi : public SceneTest {
 protected:
  /// The records and properties of the points of a cloud, as text of one point each.
  static std::vector<std::string> points(const fs::path& dense, const double* box) {
    const PlyCloud cloud = read_ply(dense / "fused.ply");
    const std::string bytes = content(dense / "fused.ply.vis");
    std::vector<std::string> all;
    std::size_t at = sizeof(std::uint64_t);
    for (std::size_t i = 0; i < cloud.positions.size(); ++i) {
      std::uint32_t count = 0;
      std::memcpy(&count, bytes.data() + at, sizeof count);
      const std::size_t size = (count + 1) * sizeof count;
      const Vec3d p = cloud.positions[i];
      const Vec3f n = cloud.normals[i];
      const Rgb8 c = cloud.colours[i];
      bool inside = true;
      if (box != nullptr)
        inside = box[0] <= p.x && p.x <= box[3] && box[1] <= p.y && p.y <= box[4] && box[2] <= p.z &&
                 p.z <= box[5];
      if (inside)
        all.push_back(testing::PrintToString(std::vector<double>{p.x, p.y, p.z}) +
                      testing::PrintToString(std::vector<float>{n.x, n.y, n.z, cloud.confidences[i]}) +
                      testing::PrintToString(std::vector<int>{c.r, c.g, c.b}) + bytes.substr(at, size));
      at += size;
    }
    EXPECT_EQ(at, bytes.size());
    return all;
  }
};

TEST_F(ReconstructRoi, KeepsExactlyThePointsOfTheBox) {
  ASSERT_EQ(reconstruct({scene().string(), "-o", (folder() / "whole").string()}).exit_code, 0);
  const Outcome outcome = reconstruct({scene().string(), "--roi", "-0.5,0.25,0.1875,0.75,1.5,1.0"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  constexpr double kBox[] = {-0.5, 0.25, 0.1875, 0.75, 1.5, 1.0};
  const std::vector<std::string> expected = points(folder() / "whole", kBox),
                                 found = points(dense(), nullptr);
  EXPECT_GT(expected.size(), 200u);
  EXPECT_LT(expected.size(), points(folder() / "whole", nullptr).size() / 2);
  EXPECT_EQ(found, expected);
  const auto report = nlohmann::json::parse(content(dense() / "report.json"));
  EXPECT_EQ(report.at("roi"), nlohmann::json({-0.5, 0.25, 0.1875, 0.75, 1.5, 1.0}));
  EXPECT_EQ(report.at("points"), found.size());
  auto with = results(dense()), without = results(folder() / "whole");
  for (auto* files : {&with, &without})
    std::erase_if(*files, [](const auto& file) { return file.first.starts_with("fused.ply"); });
  EXPECT_TRUE(same_results(with, without)) << "nothing but the cloud differs";
}

TEST_F(ReconstructRoi, DoesOnlyFusionAgain) {
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const Outcome changed = reconstruct({scene().string(), "--roi", "-1,0,0,1,2,1"});
  ASSERT_EQ(changed.exit_code, 0) << changed.err;
  EXPECT_THAT(changed.err, AllOf(HasSubstr("undistorting: 5 of 5 views are finished and kept"),
                                 HasSubstr("depth maps: 5 of 5 views are finished and kept"),
                                 HasSubstr("check across views: 5 of 5 views are finished and kept"),
                                 HasSubstr("the stale cloud is made again: --roi none -> -1,0,")));
  const Outcome same = reconstruct({scene().string(), "--config", (dense() / "options.toml").string()});
  EXPECT_THAT(same.err, HasSubstr("the cloud is finished and kept"));
  const Outcome other = reconstruct({scene().string(), "--roi", "-1,0,0,1,2,1.5"});
  EXPECT_THAT(other.err, HasSubstr("the stale cloud is made again: --roi -1,0,0,1,2,1 -> -1,0,0,1,2,1.5"));
}

TEST_F(ReconstructRoi, WithoutAPointIsAFailure) {
  const Outcome outcome = reconstruct({scene().string(), "--roi", "90,90,90,91,91,91"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the cloud is empty: none of "),
                                 HasSubstr("points lies in --roi 90,90,90,91,91,91;")));
  EXPECT_FALSE(fs::exists(dense() / "fused.ply"));
  ASSERT_EQ(reconstruct({scene().string()}).exit_code, 0);
  const std::string cloud = content(dense() / "fused.ply");
  const Outcome again = reconstruct({scene().string(), "--roi", "90,90,90,91,91,91"});
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_THAT(again.err, testing::ContainsRegex(
                             "91,91,91; they lie in -?[0-9.]+,.*; the cloud of an earlier run stays\n"));
  EXPECT_EQ(content(dense() / "fused.ply"), cloud) << "that of the earlier run stays";
}

TEST_F(ReconstructRoi, OfOtherNumbersIsWrongUsage) {
  const auto refusal = [&](const std::string& roi) {
    const Outcome outcome = reconstruct({scene().string(), "--roi", roi});
    EXPECT_EQ(outcome.exit_code, 2) << roi;
    return outcome.err;
  };
  // Boxes.OfOtherNumbersAreRefused has more of them.
  EXPECT_THAT(refusal("1,0,0,1,1,1"),
              HasSubstr("--roi is '1,0,0,1,1,1'; write MINX,MINY,MINZ,MAXX,MAXY,MAXZ: min x 1 is "
                        "not below max x 1"));
  EXPECT_THAT(refusal("0,0,64,48"), HasSubstr("--roi is '0,0,64,48'; for a scene write MINX,"));
  EXPECT_FALSE(fs::exists(dense()));
}

}  // namespace
}  // namespace recon

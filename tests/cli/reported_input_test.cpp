// Inputs that public reports show, beside the repository: how each is answered before any work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/run_program.hpp"
#include "io/model/colmap_model.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

struct Case {
  const char* folder;
  int exit_code;
  std::size_t views;    ///< of the plan
  const char* message;  ///< on standard error; empty: no warning; null: any
  std::vector<std::string> options = {};
};

class InputCase : public testing::TestWithParam<Case> {};

TEST_P(InputCase, IsAnsweredAsItsDescriptionSays) {
  const fs::path input = fs::path(RECON_SHARED_DIR) / "cases" / GetParam().folder;
  if (!fs::exists(input)) GTEST_SKIP() << input << " is not there";
  const TemporaryFolder folder;
  std::vector<std::string> command = {
      RECON_RECONSTRUCT, input.string(), "--device", "cpu",
      "--dry-run",       "--json",       "-o",       (folder / "out").string()};
  command.insert(command.end(), GetParam().options.begin(), GetParam().options.end());
  const Outcome outcome = run_program(folder.path(), command);
  EXPECT_EQ(outcome.exit_code, GetParam().exit_code) << outcome.err;
  const std::string message = GetParam().message == nullptr ? "" : GetParam().message;
  EXPECT_THAT(outcome.err, HasSubstr(message));
  const bool quiet = message.empty() && GetParam().message != nullptr;
  EXPECT_TRUE(!quiet || outcome.err.find("warning") == std::string::npos) << outcome.err;
  const std::size_t views = outcome.exit_code == 0 ? outcome.json().at("scenes").at(0).at("views").size() : 0;
  EXPECT_EQ(views, GetParam().views);
}

INSTANTIATE_TEST_SUITE_P(
    Folders, InputCase,
    testing::Values(
        Case{"blendedmvs-layout", 0, 9, ""}, Case{"colmap-rad-tan-thin-prism", 0, 9, nullptr},
        Case{"colmap4-equirectangular", 3, 0,
             "cameras and poses contradict the sparse points"},  // its photos are no panoramas
        Case{"folders-dropped", 0, 9,
             "9 of 9 photos are not where the model names them, and are found by the end of their paths"},
        Case{"hloc-outputs", 0, 9, "", {"--images", "datasets"}},
        Case{"images-txt-without-second-lines", 3, 0, "images.txt:2: here stand the words of an image"},
        Case{"json-absolute-paths", 0, 9, ""}, Case{"json-duplicate-frame", 0, 9, "is there already, in"},
        Case{"json-equirectangular", 0, 36, ""}, Case{"json-mask-path", 0, 9, "9 of 9 views"},
        Case{"json-parent-paths/out", 0, 9, ""}, Case{"json-scaled-homogeneous", 0, 9, ""},
        Case{"mvsnet-long-headers", 0, 9, ""}, Case{"ngp-dynamic-mask", 0, 9, "9 of 9 views"},
        Case{"ns-depth-file-path",
             0,
             9,
             "",
             {"--depth-maps", "depth", "--depth-unit", "0.001", "--quality", "draft"}},
        Case{"photos-halved", 0, 9, "are for 400x300 pixels and the photos have 200x150"},
        Case{"points-nan", 0, 9, "point 1 is at nan nan nan with the error"},
        Case{"points-removed", 0, 9, "such observations are ignored"},
        Case{"principal-point-zero", 3, 0,
             "the principal point (0, 0) of view00.jpg is far from the middle of the photo of 400x300"},
        Case{"pure-rotation", 3, 0, "there is no baseline"},
        Case{"rgba-photos", 0, 24, "24 of 24 photos have transparent pixels"},
        Case{"rig-stale-poses", 0, 9, "so it is with 6 of 9 images: the poses of the frames are used"},
        Case{"scene-thermal-tiff", 0, 9, ""},
        Case{"small-model-first", 0, 9, "sparse/1 has 9 images and is read"}),
    [](const auto& test) {
      std::string name = test.param.folder;
      for (char& c : name)
        if (c == '-' || c == '/') c = '_';
      return name;
    });

}  // namespace
}  // namespace recon

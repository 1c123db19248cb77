// The memory that runs take.

#include <gtest/gtest.h>

#include <ostream>

#include "cli/scene_fixture.hpp"

namespace recon {
namespace {

/// The folder of the true depth maps in a rendered scene.
constexpr const char* kTrueMaps = "gt_depth";

struct MemoryCase {
  const char* name;
  std::vector<std::string> arguments;
  const char* limit;  ///< little more than the least that is accepted with two threads
};

void PrintTo(const MemoryCase& c, std::ostream* out) {
  *out << c.name;
}

class ReconstructMemory : public SceneTest, public testing::WithParamInterface<MemoryCase> {};

/// The plan and the limit are kept in every stage, whichever of them takes the most.
TEST_P(ReconstructMemory, IsNoMoreThanPlanned) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer takes memory of its own";
#endif
  const std::string large = (folder() / "large").string();
  const Outcome rendered =
      run_program(folder(), {RECON_RENDER, RECON_SOURCE_DIR "/tests/cli/data/small_scene.json", large,
                             "--quiet", "--width", "320", "--height", "240", "--views", "4"});
  ASSERT_EQ(rendered.exit_code, 0) << rendered.err;
  for (const char* limit : {GetParam().limit, "8GiB"}) {
    std::vector<std::string> arguments = {
        large,     "--memory-limit", limit, "--threads", "2", "-o", (folder() / limit).string(),
        "--quiet", "--json"};
    for (const std::string& word : GetParam().arguments)
      arguments.push_back(word == kTrueMaps ? large + "/" + kTrueMaps : word);
    std::vector<std::string> dry = arguments;
    dry.push_back("--dry-run");
    const Outcome plan = reconstruct(dry), run = reconstruct(arguments);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto planned = plan.json().at("scenes").at(0).at("memory").at("peak").get<std::size_t>();
    EXPECT_LE(run.peak_bytes, planned) << limit;
    EXPECT_GT(run.peak_bytes, planned / 2) << limit << ": the plan is far off";
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, ReconstructMemory,
                         testing::Values(MemoryCase{"sweep", {}, "126MiB"},
                                         MemoryCase{"sweep_winner", {"--optimizer", "winner"}, "110MiB"},
                                         MemoryCase{"sweep_cross", {"--aggregation", "cross"}, "138MiB"},
                                         MemoryCase{"bm", {"--method", "bm"}, "106MiB"},
                                         MemoryCase{"given_maps", {"--depth-maps", kTrueMaps}, "112MiB"},
                                         MemoryCase{"sgm", {"--method", "sgm"}, "128MiB"},
                                         MemoryCase{"bp", {"--method", "bp", "--iterations", "1"}, "270MiB"}),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace recon

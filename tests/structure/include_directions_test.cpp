// Allowed include directions: the source tree has no cycles, and OpenCV and CUDA are used only in some
// modules.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Modules = std::set<std::string>;

/// The modules that a module may include, besides itself. A module cuda/X may include the modules that X may
/// include, X itself, the cuda counterparts of all these, and cuda/device.
const std::map<std::string, Modules> kMayInclude = {
    {"core", {}},
    {"scene", {"core"}},
    {"match", {"core", "scene"}},
    {"aggregate", {"core", "scene", "match"}},
    {"optimize", {"core", "scene", "match"}},
    {"refine", {"core", "scene", "match"}},
    {"fuse", {"core", "scene", "match"}},
    {"methods", {"core", "scene", "match", "aggregate", "optimize", "refine", "fuse"}},
    {"io", {"core", "scene"}},
    {"render", {"core", "scene"}},
    {"evaluate", {"core", "scene"}},
    {"predict", {"core", "scene", "match", "aggregate", "optimize", "refine", "methods", "io"}},
    {"session",
     {"core", "scene", "match", "aggregate", "optimize", "refine", "fuse", "methods", "predict", "io"}},
    {"api", {"core", "scene", "match", "optimize", "refine", "fuse", "methods", "io", "session"}},
    {"tools",
     {"core", "scene", "match", "aggregate", "optimize", "refine", "fuse", "methods", "predict", "io",
      "render", "evaluate", "session", "api", "reference", "cuda/testing"}},
    {"cuda", {"core", "methods", "cuda/testing"}},
    {"cuda/device", {"core"}},
    {"cuda/testing",
     {"core", "scene", "match", "aggregate", "optimize", "refine", "methods", "cuda/device", "cuda/match",
      "cuda/aggregate", "cuda/optimize", "cuda/refine", "cuda/methods"}},
};

bool may_include(const std::string& from, const std::string& to) {
  if (from == to) return true;
  if (const auto known = kMayInclude.find(from); known != kMayInclude.end())
    return known->second.contains(to);
  if (!from.starts_with("cuda/")) return false;
  const std::string module = from.substr(5);
  if (to == "cuda/device") return true;
  return may_include(module, to.starts_with("cuda/") ? to.substr(5) : to);
}

/// The module of a path relative to the source tree, or to src/: its folder, for cuda/ two folders. Public
/// headers are of the module in whose folder public/ they lie.
std::string module_of(fs::path path) {
  if (path == "reconstruct/error.hpp" || path == "reconstruct/export.hpp") return "core";
  if (*path.begin() == "reconstruct") return "api";
  if (*path.begin() == "src") path = path.lexically_relative("src");
  auto part = path.begin();
  std::string module = part->string();
  if (module == "cuda" && (++part)->extension().empty()) module += "/" + part->string();
  return module;
}

/// The folders of session that a folder of it may include, besides itself. What lies in session itself runs
/// the work and may include all.
const std::map<std::string, Modules> kSessionFolders = {
    {"options", {}},
    {"graph", {}},
    {"resume", {"options"}},
    {"plan", {"options"}},
    {"products", {"options", "resume", "plan"}},
    {"diagnose", {"options", "resume", "plan", "products"}},
    {"scene", {"options", "graph", "resume", "plan", "products", "diagnose"}},
    {"pair", {"options", "resume", "plan", "products", "scene"}},
    {"report", {"options", "resume", "plan", "products", "scene", "pair"}},
};

/// The folder of a path such as session/scene/stores.hpp in session; empty: it lies in session itself.
std::string session_folder_of(const fs::path& path) {
  const std::string folder = path.parent_path().filename().string();
  return folder == "session" ? "" : folder;
}

/// Whether a file of session may include another one.
bool keeps_session_folders(const fs::path& file, const std::string& target) {
  const std::string from = session_folder_of(file), to = session_folder_of(target);
  if (from.empty() || from == to) return true;
  const auto known = kSessionFolders.find(from);
  return known != kSessionFolders.end() && known->second.contains(to);
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> kEndings = {".hpp", ".cpp", ".cu", ".cuh", ".h", ".inc"};
  return kEndings.contains(path.extension().string());
}

/// OpenCV is for files, lens maps, max-flow and the benchmark baselines; other code must not depend on its
/// types.
bool may_use_opencv(const fs::path& file) {
  const std::string module = module_of(file);
  if (file.parent_path() == "tools/examples") return true;  // users have their images in it
  if (file.parent_path() == "tools/bench" && file.filename().string().starts_with("opencv_")) return true;
  if (file.parent_path() == "src/optimize/graph_cut" && file.extension() == ".cpp") return true;
  return module == "io" || (module == "scene" && file.filename().string().starts_with("undistort"));
}

/// An exception that leaves a oneTBB algorithm cancels the loops nested in its other calls: loops that defer
/// exceptions are in one place, and a sort does not throw.
bool may_use_tbb_algorithms(const fs::path& file) {
  return file == "src/core/parallel.hpp" || file == "src/evaluate/cloud_score.cpp";
}

/// The violation by one include of `file` (relative to the source tree), if any.
std::optional<std::string> fault_of(const fs::path& file, bool quoted, const std::string& target) {
  static const std::regex kCudaHeader(
      R"((cuda|cub|thrust|cooperative_groups|nvtx3)/.*|(cuda|cooperative|cublas|vector_types|device_launch|texture_).*\.h)");
  const std::string module = module_of(file);
  if (file.string().find("/public/") != std::string::npos) {
    if (!target.starts_with("reconstruct/") && target.find_first_of("/.") != std::string::npos)
      return "a public header includes others and the standard library only";
  }
  if (target.starts_with("Eigen/") && file != "src/core/eigen.hpp")
    return "include core/eigen.hpp, which keeps Eigen from contracting to FMA";
  if (file.parent_path() == "tests/reference") {
    if (target.ends_with("_step.hpp") || target.ends_with("-inl.hpp") || target.starts_with("steps/"))
      return "a reference shares no code with what it judges";
    return std::nullopt;
  }
  if (quoted) {
    if (target.find('/') == std::string::npos) {
      // The Python module is also built by itself, wherever its folder is copied to.
      if (file.parent_path() == "tools/python") return std::nullopt;
      return "name the module of the header";
    }
    if (!may_include(module, module_of(target))) return module + " must not include " + module_of(target);
    if (module == "tools" && target == "session/session.hpp")
      return "run scenes and pairs by api/run_inputs.hpp, as the library does";
    if (module == "session" && module_of(target) == module && !keeps_session_folders(file, target))
      return "session/" + session_folder_of(file) + " must not include " + target;
  } else {
    if (target.starts_with("opencv2/") && !may_use_opencv(file))
      return "OpenCV belongs in io/, src/scene/undistort* and src/optimize/graph_cut/*.cpp";
    if ((target.starts_with("oneapi/tbb/parallel_") || target.starts_with("tbb/")) &&
        !may_use_tbb_algorithms(file))
      return "use recon::parallel_for or bounded_parallel_for";
    if (std::regex_match(target, kCudaHeader) && !module.starts_with("cuda/"))
      return "CUDA headers belong in cuda/";
  }
  return std::nullopt;
}

/// Messages go where the process wants them, see core/log.hpp: spdlog's own logger writes to standard output.
bool logs_by_itself(const fs::path& file, const std::string& line) {
  static const std::regex kCall(
      R"(.*\bspdlog::(trace|debug|info|warn|error|critical|default_logger\w*)\s*\(.*)");
  return file.parent_path() != "tests/reference" && std::regex_match(line, kCall);
}

struct Findings {
  int includes = 0;
  std::vector<std::string> faults;  ///< "file:line: what", sorted
};

Findings look_through(const fs::path& tree) {
  static const std::regex kInclude(R"(\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  Findings findings;
  for (const char* top : {"src", "cuda", "io", "tools", "tests/reference"}) {
    if (!fs::exists(tree / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(tree / top)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      const fs::path file = entry.path().lexically_relative(tree);
      std::ifstream text(entry.path());
      int number = 0;
      for (std::string line; std::getline(text, line);) {
        ++number;
        std::smatch match;
        if (logs_by_itself(file, line))
          findings.faults.push_back(file.string() + ":" + std::to_string(number) +
                                    ": use messages() of core/log.hpp");
        if (!std::regex_match(line, match, kInclude)) continue;
        ++findings.includes;
        if (const auto fault = fault_of(file, match[1] == "\"", match[2]))
          findings.faults.push_back(file.string() + ":" + std::to_string(number) + ": " + *fault);
      }
    }
  }
  std::sort(findings.faults.begin(), findings.faults.end());
  return findings;
}

TEST(IncludeDirections, TheTreeKeepsThem) {
  const Findings findings = look_through(RECON_SOURCE_DIR);
  EXPECT_THAT(findings.faults, IsEmpty());
  EXPECT_GT(findings.includes, 100);
}

class PlantedTree : public testing::Test {
 protected:
  void SetUp() override {
    house_ = fs::temp_directory_path() / ("recon-tree-" + std::to_string(getpid()));
    fs::remove_all(house_);
  }
  void TearDown() override { fs::remove_all(house_); }

  std::vector<std::string> faults_of(const fs::path& file, const std::string& text) {
    fs::remove_all(house_);
    fs::create_directories((house_ / file).parent_path());
    std::ofstream(house_ / file) << text;
    return look_through(house_).faults;
  }

  fs::path house_;
};

TEST_F(PlantedTree, UpwardIncludesAreFaults) {
  EXPECT_THAT(faults_of("src/core/a.hpp", "#pragma once\n#include \"scene/camera.hpp\"\n"),
              ElementsAre("src/core/a.hpp:2: core must not include scene"));
  EXPECT_THAT(faults_of("src/match/a.cpp", "#include \"methods/backend.hpp\"\n"),
              ElementsAre(HasSubstr("methods")));
  EXPECT_THAT(faults_of("src/methods/a.cpp", "  #  include \"io/cloud/ply.hpp\"\n"),
              ElementsAre(HasSubstr("io")));
  EXPECT_THAT(faults_of("io/a.cpp", "#include \"match/posed_image.hpp\"\n"), ElementsAre(HasSubstr("match")));
  EXPECT_THAT(faults_of("src/fuse/a.cpp", "#include \"refine/normals.hpp\"\n"),
              ElementsAre(HasSubstr("refine")));
}

TEST_F(PlantedTree, PublicHeadersStandAlone) {
  const std::string header = "src/api/public/reconstruct/a.hpp";
  EXPECT_THAT(faults_of(header, "#include \"core/image.hpp\"\n"), ElementsAre(HasSubstr("public header")));
  EXPECT_THAT(faults_of(header, "#include <opencv2/core.hpp>\n"), ElementsAre(HasSubstr("public header")));
  EXPECT_THAT(faults_of(header, "#include <cuda_runtime.h>\n"), ElementsAre(HasSubstr("public header")));
  EXPECT_THAT(faults_of(header, "#include <vector>\n#include \"reconstruct/error.hpp\"\n"), IsEmpty());
  EXPECT_THAT(faults_of("src/core/a.hpp", "#include \"reconstruct/error.hpp\"\n"), IsEmpty());
  EXPECT_THAT(faults_of("src/core/a.hpp", "#include \"reconstruct/scene.hpp\"\n"),
              ElementsAre(HasSubstr("core must not include api")));
  EXPECT_THAT(faults_of("src/session/a.hpp", "#include \"api/call.hpp\"\n"),
              ElementsAre(HasSubstr("session must not include api")));
}

TEST_F(PlantedTree, ProgramsRunScenesAsTheLibraryDoes) {
  EXPECT_THAT(faults_of("tools/reconstruct.cpp", "#include \"session/session.hpp\"\n"),
              ElementsAre(HasSubstr("api/run_inputs.hpp")));
  EXPECT_THAT(faults_of("tools/reconstruct.cpp", "#include \"api/run_inputs.hpp\"\n"), IsEmpty());
}

TEST_F(PlantedTree, FoldersOfSessionHaveNoArrowBack) {
  const auto faults = [&](const std::string& file, const std::string& target) {
    return faults_of("src/session/" + file, "#include \"session/" + target + "\"\n");
  };
  EXPECT_THAT(
      faults("scene/a.cpp", "report/report.hpp"),
      ElementsAre("src/session/scene/a.cpp:1: session/scene must not include session/report/report.hpp"));
  EXPECT_THAT(faults("scene/a.hpp", "session.hpp"), ElementsAre(HasSubstr("must not include")));
  EXPECT_THAT(faults("graph/a.cpp", "scene/stores.hpp"), ElementsAre(HasSubstr("must not include")));
  EXPECT_THAT(faults("scene/a.cpp", "pair/pair_input.hpp"), ElementsAre(HasSubstr("must not include")));
  EXPECT_THAT(faults("attic/a.cpp", "options/options.hpp"), ElementsAre(HasSubstr("must not include")));
  EXPECT_THAT(faults("scene/a.cpp", "graph/scheduler.hpp"), IsEmpty());
  EXPECT_THAT(faults("scene/a.cpp", "scene/stores.hpp"), IsEmpty());
  EXPECT_THAT(faults("report/a.cpp", "pair/pair_input.hpp"), IsEmpty());
  EXPECT_THAT(faults("a.cpp", "report/report.hpp"), IsEmpty());
}

TEST_F(PlantedTree, CudaStaysInCuda) {
  EXPECT_THAT(faults_of("src/session/a.cpp", "#include \"cuda/methods/sweep.hpp\"\n"),
              ElementsAre(HasSubstr("cuda")));
  EXPECT_THAT(faults_of("tools/a.cpp", "#include \"cuda/device/stream.hpp\"\n"),
              ElementsAre(HasSubstr("cuda")));
  EXPECT_THAT(faults_of("src/match/a.hpp", "#include <cuda_runtime.h>\n"), ElementsAre(HasSubstr("CUDA")));
  EXPECT_THAT(faults_of("src/match/a.hpp", "#include <cub/cub.cuh>\n"), ElementsAre(HasSubstr("CUDA")));
  EXPECT_THAT(faults_of("cuda/match/a.cu", "#include \"session/plan.hpp\"\n"),
              ElementsAre(HasSubstr("session")));
  EXPECT_THAT(faults_of("cuda/match/a.cu", "#include \"cuda/optimize/a.cuh\"\n"),
              ElementsAre(HasSubstr("optimize")));
  EXPECT_THAT(faults_of("cuda/device/a.cu", "#include \"cuda/match/a.cuh\"\n"),
              ElementsAre(HasSubstr("match")));
}

TEST_F(PlantedTree, EigenIsIncludedInOnePlace) {
  for (const char* file : {"src/scene/a.cpp", "src/core/a.hpp", "tests/reference/a.cpp"})
    EXPECT_THAT(faults_of(file, "#include <Eigen/Dense>\n"), ElementsAre(HasSubstr("core/eigen.hpp")))
        << file;
  EXPECT_THAT(faults_of("src/core/eigen.hpp", "#include <Eigen/Dense>\n"), IsEmpty());
}

TEST_F(PlantedTree, OpenCvStaysBehindItsDoors) {
  EXPECT_THAT(faults_of("src/refine/a.cpp", "#include <opencv2/core.hpp>\n"),
              ElementsAre(HasSubstr("OpenCV")));
  EXPECT_THAT(faults_of("src/scene/camera.cpp", "#include <opencv2/core.hpp>\n"),
              ElementsAre(HasSubstr("OpenCV")));
  EXPECT_THAT(faults_of("io/image_file.cpp", "#include <opencv2/imgcodecs.hpp>\n"), IsEmpty());
  EXPECT_THAT(faults_of("src/scene/undistort.cpp", "#include <opencv2/imgproc.hpp>\n"), IsEmpty());
  EXPECT_THAT(faults_of("src/optimize/graph_cut/graph_cut_band.cpp", "#include <opencv2/core.hpp>\n"),
              IsEmpty());
  EXPECT_THAT(faults_of("src/optimize/graph_cut/graph_cut.hpp", "#include <opencv2/core.hpp>\n"),
              ElementsAre(HasSubstr("OpenCV")));
  EXPECT_THAT(faults_of("src/optimize/semi_global.cpp", "#include <opencv2/core.hpp>\n"),
              ElementsAre(HasSubstr("OpenCV")));
  EXPECT_THAT(faults_of("tools/bench/opencv_stereo.hpp", "#include <opencv2/calib3d.hpp>\n"), IsEmpty());
  EXPECT_THAT(faults_of("tools/bench/measurement.hpp", "#include <opencv2/core.hpp>\n"),
              ElementsAre(HasSubstr("OpenCV")));
}

TEST_F(PlantedTree, ParallelAlgorithmsAreThoseThatKeepExceptionsAside) {
  EXPECT_THAT(faults_of("src/refine/a.cpp", "#include <oneapi/tbb/parallel_for.h>\n"),
              ElementsAre(HasSubstr("recon::parallel_for")));
  EXPECT_THAT(faults_of("io/a.cpp", "#include <tbb/parallel_pipeline.h>\n"),
              ElementsAre(HasSubstr("recon::parallel_for")));
  EXPECT_THAT(faults_of("src/core/parallel.hpp", "#include <oneapi/tbb/parallel_for.h>\n"), IsEmpty());
  EXPECT_THAT(faults_of("src/refine/a.cpp", "#include <oneapi/tbb/task_arena.h>\n"), IsEmpty());
}

TEST_F(PlantedTree, MessagesGoWhereTheProcessWantsThem) {
  EXPECT_THAT(faults_of("src/session/a.cpp", "void f() { spdlog::warn(\"{}\", 1); }\n"),
              ElementsAre("src/session/a.cpp:1: use messages() of core/log.hpp"));
  EXPECT_THAT(faults_of("src/session/a.cpp", "void f() { messages().warn(\"{}\", 1); }\n"), IsEmpty());
}

TEST_F(PlantedTree, ReferencesShareNoCode) {
  EXPECT_THAT(faults_of("tests/reference/a.hpp", "#include \"match/warp_step.hpp\"\n"),
              ElementsAre("tests/reference/a.hpp:1: a reference shares no code with what it judges"));
  EXPECT_THAT(faults_of("tests/reference/a.cpp", "#include \"steps/plane_sweep.hpp\"\n"),
              ElementsAre(HasSubstr("shares no code")));
  EXPECT_THAT(faults_of("tests/reference/a.cpp", "#include \"match/cost_options.hpp\"\n"), IsEmpty());
}

TEST_F(PlantedTree, DownwardIncludesAreFine) {
  EXPECT_THAT(faults_of("src/optimize/a.hpp", "#include \"match/combine_step.hpp\"\n#include <vector>\n"),
              IsEmpty());
  EXPECT_THAT(
      faults_of("src/session/a.cpp", "#include \"io/cloud/ply.hpp\"\n#include \"session/plan.hpp\"\n"),
      IsEmpty());
  EXPECT_THAT(
      faults_of(
          "cuda/methods/a.cu",
          "#include <cuda_runtime.h>\n#include \"cuda/match/a.cuh\"\n#include \"cuda/device/arena.hpp\"\n"
          "#include \"methods/backend.hpp\"\n#include \"match/warp_step.hpp\"\n"),
      IsEmpty());
}

TEST_F(PlantedTree, HeadersAreNamedWithTheirModule) {
  EXPECT_THAT(faults_of("src/core/a.cpp", "#include \"half.hpp\"\n"),
              ElementsAre(HasSubstr("name the module")));
  EXPECT_THAT(faults_of("tools/python/a.cpp", "#include \"half.hpp\"\n"), IsEmpty());
}

}  // namespace

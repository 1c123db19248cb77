#include "torture/torture_cases.hpp"

#include <stdlib.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "cli/pair_fixture.hpp"
#include "cli/run_program.hpp"
#include "cli/scene_fixture.hpp"
#include "io/image/image_file.hpp"
#include "io/model/colmap_model.hpp"

namespace recon {

namespace fs = std::filesystem;

namespace {

/// The definition of results, shared with the tests of the command line.
struct Results : SceneTest {
  using SceneTest::results;
};

void render(const fs::path& folder, const Words& arguments) {
  Words words = {RECON_RENDER,     RECON_SOURCE_DIR "/tests/cli/data/small_scene.json",
                 folder.string(),  "--quiet",
                 "--ground-truth", "none"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Outcome outcome = run_program(folder.parent_path(), words);
  if (outcome.exit_code != 0) throw std::runtime_error("the scene was not rendered: " + outcome.err);
}

/// Photos in the format of cameras.
void turn_into_jpeg(const fs::path& scene) {
  Scene model = read_colmap_model(scene / "sparse");
  for (View& view : model.views) {
    const fs::path photo = scene / "images" / view.name;
    view.name = photo.stem().string() + ".jpg";
    write_image(scene / "images" / view.name, read_image(photo).view());
    fs::remove(photo);
  }
  write_colmap_model(scene / "sparse", model, ColmapFormat::kText);
}

fs::path pair_folder(const fs::path& folder, int disparity) {
  constexpr int kWidth = 64, kHeight = 48;
  const TexturePair pair = texture_pair(kWidth, kHeight, disparity);
  write_image(folder / "im0.png", pair.left.view());
  write_image(folder / "im1.png", pair.right.view());
  set_content(folder / "calib.txt",
              "cam0=[100 0 31.5; 0 100 23.5; 0 0 1]\ncam1=[100 0 35.5; 0 100 23.5; 0 0 1]\ndoffs=4\n"
              "baseline=2\nwidth=64\nheight=48\nndisp=16\n");
  return folder;
}

/// The arguments of a run followed by those of each part of it.
std::vector<Words> parts(const Words& run, const std::vector<Words>& of_parts) {
  std::vector<Words> runs;
  for (const Words& part : of_parts) {
    runs.push_back(run);
    runs.back().insert(runs.back().end(), part.begin(), part.end());
  }
  return runs;
}

bool is_leftover(const fs::path& file) {
  return file.filename().string().starts_with(".reconstruct-") && file.extension() == ".tmp";
}

}  // namespace

std::vector<TortureCase> make_torture_cases(const fs::path& folder, const std::string& only) {
  const std::string lens = folder / "lens", plain = folder / "plain";
  render(lens, {"--camera-model", "OPENCV", "--width", "240"});
  render(plain, {"--width", "56"});
  for (const std::string& scene : {lens, plain}) turn_into_jpeg(scene);
  const std::string near = pair_folder(folder / "near", 6), far = pair_folder(folder / "far", 9);

  const Words sweep = {lens, "--max-image-size", "56", "--planes", "12"};
  const Words fewer = {lens, "--max-image-size", "56", "--planes", "9"};
  const std::vector<Words> stages = {{"--stage", "estimate"}, {"--stage", "fuse"}};
  const std::vector<Words> shards = {{"--stage", "estimate", "--shard", "1/2"},
                                     {"--stage", "estimate", "--shard", "2/2"},
                                     {"--stage", "fuse"}};
  std::vector<TortureCase> cases = {
      {"sweep",
       {{sweep},
        {{lens, "--max-image-size", "56", "--planes", "12", "--min-fused-views", "3"}},
        {{lens, "--max-image-size", "48", "--planes", "12"}},
        {{plain, "--planes", "10", "--optimizer", "winner"}}}},
      {"scene of pairs",
       {{{lens, "--max-image-size", "56", "--method", "sgm"}},
        {{lens, "--max-image-size", "56", "--method", "bm"}},
        {{plain, "--method", "sgm", "--paths", "4"}}}},
      {"stages", {parts(sweep, stages), parts(fewer, stages)}},
      {"shards", {parts(sweep, shards), parts(fewer, shards)}},
      {"pair", {{{near, "--method", "bm"}}, {{near, "--preset", "ad-census"}}}},
      {"another pair", {{{far, "--method", "sgm", "--fill"}}, {{far, "--method", "bp"}}}}};
  if (!only.empty()) std::erase_if(cases, [&](const TortureCase& it) { return it.name != only; });
  if (cases.empty()) throw std::runtime_error("there is no case '" + only + "'");
  return cases;
}

fs::path make_torture_folder() {
  std::string folder = (fs::temp_directory_path() / "reconstruct_torture_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  return folder;
}

bool is_fusion_alone(const Words& run) {
  return std::find(run.begin(), run.end(), "fuse") != run.end();
}

std::vector<std::string> wrong_results(const fs::path& wanted, const fs::path& found) {
  std::map<std::string, std::string> missing;
  for (auto& [name, bytes] : Results::results(wanted)) missing.emplace(name, std::move(bytes));
  std::vector<std::string> wrong;
  if (missing.empty()) wrong.push_back(wanted.string() + " is empty");
  for (const auto& [name, bytes] : Results::results(found)) {
    if (is_leftover(name)) continue;
    if (const auto entry = missing.find(name); entry == missing.end()) {
      wrong.push_back(name + " is too many");
    } else {
      if (entry->second != bytes) wrong.push_back(name + " differs");
      missing.erase(entry);
    }
  }
  for (const auto& [name, bytes] : missing) wrong.push_back(name + " is missing");
  return wrong;
}

std::vector<std::string> leftovers(const fs::path& folder) {
  std::vector<std::string> names;
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (is_leftover(entry.path())) names.push_back(entry.path().lexically_relative(folder).string());
  return names;
}

void begin_round(const fs::path& output, const std::vector<fs::path>& variants, Random& random) {
  fs::remove_all(output);
  if (random.chance(0.5)) fs::copy(random.pick(variants), output, fs::copy_options::recursive);
}

}  // namespace recon

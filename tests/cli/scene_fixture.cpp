#include "cli/scene_fixture.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "io/model/colmap_model.hpp"

namespace recon {

SceneTest::SceneTest() {
  std::string name = (fs::temp_directory_path() / "reconstruct_cli_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
  copy_scene(scene());
}

SceneTest::~SceneTest() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::vector<std::string> SceneTest::command(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = {RECON_RECONSTRUCT};
  bool device = false, planes = false;
  for (const std::string& argument : arguments) {
    device |= argument == "--device";
    for (const char* other : {"--planes", "--method", "--preset", "--config", "--depth-maps"})
      planes |= argument == other;
  }
  if (!device) words.insert(words.end(), {"--device", "cpu"});
  if (!planes) words.insert(words.end(), {"--planes", "48"});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::map<std::string, nlohmann::json> SceneTest::planned_tasks(std::vector<std::string> command) const {
  std::erase(command, "--json");
  command.insert(command.end(), {"--dry-run", "--json"});
  std::map<std::string, nlohmann::json> tasks;
  const Outcome plan = run_program(folder_, command);
  if (plan.exit_code != 0 || !plan.out.starts_with('{')) return tasks;
  const nlohmann::json document = plan.json();
  for (const nlohmann::json& scene : document.at("scenes"))
    if (scene.contains("tasks")) tasks[scene.at("output")] = scene.at("tasks");
  return tasks;
}

Outcome SceneTest::reconstruct(const std::vector<std::string>& arguments) const {
  const std::vector<std::string> words = command(arguments);
  const bool works = std::ranges::find(words, "--dry-run") == words.end();
  std::map<std::string, nlohmann::json> planned;
  if (works && !std::exchange(compared_, true)) planned = planned_tasks(words);
  Outcome outcome = run_program(folder_, words);
  if (outcome.exit_code != 0) return outcome;
  for (const auto& [output, tasks] : planned)
    if (const fs::path report = fs::path(output) / "report.json"; fs::exists(report)) {
      EXPECT_EQ(nlohmann::json::parse(content(report)).at("tasks"), tasks) << "the plan is not what was done";
    }
  return outcome;
}

std::vector<std::string> SceneTest::as_plain_user(std::vector<std::string> command) const {
  fs::copy_file(command.front(), plain_program(), fs::copy_options::overwrite_existing);
  fs::copy_file(RECON_CODECS, folder_ / fs::path(RECON_CODECS).filename(),
                fs::copy_options::overwrite_existing);
  command.front() = plain_program().string();
  run_program(folder_, {"/bin/chmod", "-R", "a+rwX", folder_.string()});
  if (geteuid() == 0)
    command.insert(command.begin(), {"/usr/bin/setpriv", "--reuid=65533", "--clear-groups"});
  return command;
}

void SceneTest::copy_scene(const fs::path& output) {
  fs::create_directories(output);
  fs::copy(RECON_SMALL_SCENE, output, fs::copy_options::recursive);
}

void SceneTest::render(const fs::path& output, const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = {RECON_RENDER,     RECON_SOURCE_DIR "/tests/cli/data/small_scene.json",
                                    output.string(),  "--quiet",
                                    "--ground-truth", "none"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Outcome outcome = run_program(folder_, words);
  if (outcome.exit_code != 0) throw std::runtime_error("the scene was not rendered: " + outcome.err);
}

Scene SceneTest::model() const {
  return read_colmap_model(scene() / "sparse");
}

void SceneTest::set_model(const Scene& model) const {
  write_colmap_model(scene() / "sparse", model, ColmapFormat::kText);
}

void SceneTest::move_model(Vec3d offset) const {
  Scene moved = model();
  for (View& view : moved.views) {
    Pose& pose = view.cam_from_world;
    pose.translation = pose.translation - pose.rotation * offset;
  }
  for (SparsePoint& point : moved.points.edit()) point.position = point.position + offset;
  set_model(moved);
}

std::vector<std::pair<std::string, std::string>> SceneTest::results(const fs::path& dense) {
  std::vector<std::pair<std::string, std::string>> files;
  for (auto& file : files_below(dense))
    if (file.first.rfind("status/", 0) != 0 && file.first.rfind("report", 0) != 0 &&
        file.first != "options.toml")
      files.push_back(std::move(file));
  return files;
}

testing::AssertionResult same_results(const std::vector<std::pair<std::string, std::string>>& a,
                                      const std::vector<std::pair<std::string, std::string>>& b) {
  if (a.empty()) return testing::AssertionFailure() << "there are no files";
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].first != b[i].first)
      return testing::AssertionFailure() << a[i].first << " stands against " << b[i].first;
    if (a[i].second != b[i].second) return testing::AssertionFailure() << a[i].first << " differs";
  }
  if (a.size() != b.size()) return testing::AssertionFailure() << a.size() << " files against " << b.size();
  return testing::AssertionSuccess();
}

}  // namespace recon

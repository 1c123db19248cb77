#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/run_program.hpp"
#include "scene/scene.hpp"

namespace recon {

/// Gives each test a folder of its own with a small rendered scene in `scene()`.
class SceneTest : public testing::Test {
 protected:
  SceneTest();
  ~SceneTest() override;

  const fs::path& folder() const { return folder_; }
  fs::path scene() const { return folder_ / "scene"; }
  fs::path dense() const { return scene() / "dense"; }

  /// `reconstruct`, on the CPU and with few planes unless the arguments name a device, planes, a method or
  /// given maps. The tasks that the first run of a test has done are expected to be those of its plan.
  std::vector<std::string> command(const std::vector<std::string>& arguments) const;
  Outcome reconstruct(const std::vector<std::string>& arguments) const;

  /// The tasks that a plan of the same command lists, by output folder; nothing where there is no plan.
  std::map<std::string, nlohmann::json> planned_tasks(std::vector<std::string> command) const;

  /// A command of `command` as a user without privileges runs it: from a copy of the program that everybody
  /// may run, on files that everybody may change.
  std::vector<std::string> as_plain_user(std::vector<std::string> command) const;
  fs::path plain_program() const { return folder_ / "reconstruct"; }

  /// Copies the scene as it was rendered to another folder.
  static void copy_scene(const fs::path& output);
  /// Renders the scene once more, to another folder, with further arguments of reconstruct-render.
  void render(const fs::path& output, const std::vector<std::string>& arguments) const;

  /// The model of `scene()`, to be changed and written back.
  Scene model() const;
  void set_model(const Scene& model) const;
  /// Moves the model, not the photos.
  void move_model(Vec3d offset) const;

  /// The files of a dense folder whose bytes must not depend on how the run went: all but reports and
  /// records, which hold times.
  static std::vector<std::pair<std::string, std::string>> results(const fs::path& dense);

 private:
  fs::path folder_;
  mutable bool compared_ = false;  ///< the tasks of a run with those of its plan
};

/// Passes when both folders hold the same results; says which file differs.
testing::AssertionResult same_results(const std::vector<std::pair<std::string, std::string>>& a,
                                      const std::vector<std::pair<std::string, std::string>>& b);

}  // namespace recon

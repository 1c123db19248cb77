// The public call for scenes: files in, files out, as the program does it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cli/scene_fixture.hpp"
#include "reconstruct/scene.hpp"

namespace recon {
namespace {

using reconstruct::Listener;
using reconstruct::MessageLevel;
using reconstruct::Options;
using reconstruct::Progress;
using testing::Contains;
using testing::HasSubstr;

class RunTest : public SceneTest {
 protected:
  Options options(const std::string& output) const {
    return {{"device", "cpu"}, {"planes", "24"}, {"output", (folder() / output).string()}};
  }
  std::vector<std::pair<std::string, std::string>> of_program() const {
    const Outcome outcome = run_program(folder(), {RECON_RECONSTRUCT, scene(), "--device", "cpu", "--planes",
                                                   "24", "-o", folder() / "program"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return results(folder() / "program");
  }
};

TEST_F(RunTest, EqualsTheProgramAndTellsItsListener) {
  std::map<std::string, Progress> last;
  std::vector<std::string> messages;
  Listener listener;
  listener.progress = [&](const Progress& it) {
    EXPECT_GE(it.done, last[it.step].done);
    EXPECT_LE(it.done, it.total);
    last[it.step] = it;
  };
  listener.message = [&](MessageLevel level, const std::string& text) {
    messages.push_back(std::to_string(static_cast<int>(level)) + " " + text);
  };
  struct sigaction before = {}, after = {};
  sigaction(SIGINT, nullptr, &before);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const reconstruct::RunResult result = reconstruct::run({scene()}, options("library"), listener);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  EXPECT_TRUE(result.complete);
  const auto json = nlohmann::json::parse(result.json);
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_GT(json["scenes"][0]["points"], 0);
  const nlohmann::json& values = json["scenes"][0]["option_values"];
  EXPECT_EQ(values["planes"], "24");
  EXPECT_EQ(values["min-views"], 1);
  EXPECT_EQ(values["max-depth-error"], 0.01);
  EXPECT_EQ(values["colour"], false);
  std::string lines;
  for (const auto& [name, value] : values.items()) lines += name + "=" + value.dump() + "\n";
  const std::string text = json["scenes"][0]["options"];
  EXPECT_EQ(std::ranges::count(lines, '\n'), std::ranges::count(text, '\n'));
  EXPECT_THAT(text, HasSubstr("min-views=1\n"));
  for (const char* step : {"depth maps", "check across views", "fusion"})
    EXPECT_TRUE(last[step].total == 5 && last[step].done == 5) << step << ": " << last[step].done;
  EXPECT_THAT(messages, Contains(HasSubstr("1 working on the CPU, as asked")));
  EXPECT_TRUE(same_results(results(folder() / "library"), of_program()));
}

TEST_F(RunTest, StopsAndGoesOnLater) {
  std::stop_source stop;
  Listener listener;
  listener.progress = [&](const Progress& it) {
    if (it.step == "depth maps" && it.done == 2) stop.request_stop();
  };
  EXPECT_THROW(reconstruct::run({scene()}, options("library"), listener, stop.get_token()),
               reconstruct::Interrupted);
  EXPECT_FALSE(fs::exists(folder() / "library/fused.ply"));
  std::vector<std::string> messages;
  listener.progress = nullptr;
  listener.message = [&](MessageLevel, const std::string& text) { messages.push_back(text); };
  EXPECT_TRUE(reconstruct::run({scene()}, options("library"), listener).complete);
  EXPECT_THAT(messages, Contains(HasSubstr("are finished and kept")));
  EXPECT_TRUE(same_results(results(folder() / "library"), of_program()));
}

TEST_F(RunTest, WhatAListenerThrowsEndsIt) {
  Listener listener;
  listener.progress = [](const Progress& it) {
    if (it.done == 1) throw std::domain_error("enough");
  };
  EXPECT_THROW(reconstruct::run({scene()}, options("library"), listener), std::domain_error);
}

TEST_F(RunTest, AListenerMayCallTheLibrary) {
  std::vector<std::string> faults, messages;
  Listener listener;
  const auto call = [&] {
    // More threads than processors: a message.
    const reconstruct::Device device(
        {.device = "cpu", .threads = 4096, .memory_limit = {}, .gpu_memory_limit = {}});
    try {
      reconstruct::run({scene()}, options("nested"));
    } catch (const reconstruct::UsageError& error) {
      faults.emplace_back(error.what());
    }
  };
  listener.progress = [&](const Progress& it) {
    if (it.done == 1) call();
  };
  listener.message = [&](MessageLevel, const std::string& text) {
    messages.push_back(text);
    if (messages.size() == 1) call();
  };
  EXPECT_TRUE(reconstruct::run({scene()}, options("library"), listener).complete);
  ASSERT_GE(faults.size(), 2u);
  for (const std::string& fault : faults) EXPECT_THAT(fault, HasSubstr("a listener called run"));
  EXPECT_THAT(messages, Contains(HasSubstr("--threads is 4096")));
  EXPECT_FALSE(fs::exists(folder() / "nested"));
}

TEST_F(RunTest, StopsWhileItWaitsForAnother) {
  std::promise<void> begun, stopped;
  Listener listener;
  listener.progress = [&, first = true](const Progress&) mutable {
    if (std::exchange(first, false))
      begun.set_value(), stopped.get_future().wait_for(std::chrono::seconds(20));
  };
  auto first = std::async(std::launch::async, [&] { reconstruct::run({scene()}, options("a"), listener); });
  begun.get_future().wait();
  std::stop_source stop;
  auto second = std::async(std::launch::async,
                           [&] { reconstruct::run({scene()}, options("b"), {}, stop.get_token()); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  stop.request_stop();
  EXPECT_EQ(second.wait_for(std::chrono::seconds(5)), std::future_status::ready);
  stopped.set_value();
  EXPECT_THROW(second.get(), reconstruct::Interrupted);
  first.get();
}

TEST_F(RunTest, ErrorsAreTyped) {
  const auto fault = [&](const std::vector<fs::path>& inputs, const Options& given) -> std::string {
    try {
      reconstruct::run(inputs, given);
    } catch (const reconstruct::InputError& error) {
      return std::string("input: ") + error.what();
    } catch (const reconstruct::UsageError& error) {
      return std::string("usage: ") + error.what();
    }
    return "none";
  };
  testing::internal::CaptureStderr();
  EXPECT_THAT(fault({folder() / "nothing"}, {}), HasSubstr("nothing"));
  EXPECT_THAT(fault({}, {}), HasSubstr("usage: no input given"));
  EXPECT_THAT(fault({scene()}, {{"quality", "best"}}), HasSubstr("usage: --quality is 'best'"));
  EXPECT_THAT(fault({scene()}, {{"json", "true"}}), HasSubstr("belongs to the command line"));
  Options too_near = options("library");
  too_near["depth-min"] = "0.01", too_near["depth-max"] = "0.02";
  EXPECT_THAT(fault({scene()}, too_near), HasSubstr("input: "));
  fs::remove(scene() / "sparse/cameras.txt");
  fs::remove(scene() / "sparse/cameras.bin");
  EXPECT_THAT(fault({scene()}, options("other")), HasSubstr("input: "));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(RunTest, FilesOfASessionThatCannotBeWrittenAreAnOutputError) {
  for (const char* name : {"a", "b"}) copy_scene(folder() / "session" / name);
  fs::create_directories(folder() / "session/.reconstruct-session");  // no file can be opened there
  try {
    reconstruct::run({folder() / "session"}, {{"device", "cpu"}, {"planes", "8"}, {"max-image-size", "48"}});
    FAIL() << "it wrote them";
  } catch (const reconstruct::OutputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the session's files are not written"));
  }
}

TEST_F(RunTest, APlanIsAnObject) {
  Options given = options("library");
  given["dry-run"] = "true";
  const auto json = nlohmann::json::parse(reconstruct::run({scene()}, given).json);
  EXPECT_EQ(json["scenes"][0]["views"].size(), 5);
  EXPECT_FALSE(fs::exists(folder() / "library"));
}

}  // namespace
}  // namespace recon

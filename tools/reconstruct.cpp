#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "api/run_inputs.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log_file.hpp"
#include "core/program.hpp"
#include "core/system_limits.hpp"
#include "core/version.hpp"
#include "io/file/output_file.hpp"
#include "methods/cuda_code.hpp"
#include "session/resume/step_record.hpp"
#include "tools/command_line.hpp"
#include "tools/commit.hpp"
#include "tools/manual/manual.hpp"

namespace {

using namespace recon;

/// Options that print a text and do nothing else.
const std::pair<const char*, std::function<std::string()>> kToRead[] = {
    {"help-all", [] { return full_help_text(terminal_columns()); }},
    {"help", [] { return help_text(terminal_columns()); }},
    {"version", [] {
       return std::string("reconstruct ") + version() + " (" RECON_COMMIT ")\n" + cuda_code_of_build() + "\n";
     }}};

int run(int argc, char** argv) {
  CommandLine line = parse_command_line(argc, argv);
  for (const auto& [option, text] : kToRead)
    if (line.has(option)) {
      print_for_reading(text());
      return 0;
    }
  set_up_log(line.has("quiet")     ? spdlog::level::warn
             : line.has("verbose") ? spdlog::level::debug
                                   : spdlog::level::info);
  if (line.has("config")) add_config(line.given.at("config").text, line.given);
  try {
    install_interrupt_handler();
    return reconstruct::detail::run_inputs(line.inputs, line.given, std::cout);
  } catch (const UsageError& error) {
    throw UsageError(with_place(error.what(), line.given));
  }
}

/// What `--json` prints of a run that ends before its results.
void print_failure(const Failure& failure) {
  std::cout << json_text(
      {{"scenes", nlohmann::json::array()}, {"exit_code", failure.exit_code}, {"error", failure.message}});
}

/// Whether messages are to be objects: the first ones are about a command line that is not understood.
bool asks_for_json_messages(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--progress=json" ||
        (word == "--progress" && i + 1 < argc && argv[i + 1] == std::string_view("json")))
      return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  return_freed_memory();
  // One queue to each GPU for all streams: opening it takes 0.1 s less, and the work as long
  // (tests/bench/results/gpu.md). The first call of CUDA reads it.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
  if (asks_for_json_messages(argc, argv)) set_json_messages();
  // Also where the rest of the command line is not understood.
  const bool json = std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; });
  return run_program([&] { return run(argc, argv); }, reconstruct::detail::run_advice(),
                     json ? print_failure : std::function<void(const Failure&)>());
}

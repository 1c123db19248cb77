#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string_view>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/program.hpp"
#include "core/system_memory.hpp"
#include "core/version.hpp"
#include "io/json_text.hpp"
#include "session/resume/step_record.hpp"
#include "session/session.hpp"
#include "tools/commit.hpp"
#include "tools/reconstruct_options.hpp"

namespace {

using namespace recon;

Verbosity verbosity(const CommandLine& line) {
  if (line.options.quiet) return Verbosity::kQuiet;
  return line.verbose ? Verbosity::kVerbose : Verbosity::kNormal;
}

int run(int argc, char** argv) {
  CLI::App app("Depth maps and a fused, coloured point cloud from calibrated photos", "reconstruct");
  app.set_version_flag("--version", std::string("reconstruct ") + version() + " (" RECON_COMMIT ")");
  app.footer(
      "Exit codes: 0 all done, 1 unexpected failure, 2 wrong usage, 3 bad input, 4 not enough memory,\n"
      "5 no such device, 7 some views failed and the rest is written, 130 interrupted.");
  CommandLine line;
  line.declare(app);
  try {
    CommandLine::parse(app, argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  }
  set_up_log(verbosity(line));
  try {
    line.finish(app);
    install_interrupt_handler();
    return run_session(line.options, std::cout);
  } catch (const UsageError& error) {
    throw UsageError(line.with_place(error.what()));
  }
}

/// What `--json` prints of a run that ends before its results.
void print_failure(const Failure& failure) {
  std::cout << json_text(
      {{"scenes", nlohmann::json::array()}, {"exit_code", failure.exit_code}, {"error", failure.message}});
}

}  // namespace

int main(int argc, char** argv) {
  return_freed_memory();
  // Also where the rest of the command line is not understood.
  const bool json = std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; });
  return run_program([&] { return run(argc, argv); }, kSessionAdvice,
                     json ? print_failure : std::function<void(const Failure&)>());
}

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <new>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/system_memory.hpp"
#include "core/version.hpp"
#include "session/session.hpp"
#include "tools/reconstruct_options.hpp"

namespace {

using namespace recon;

constexpr int kUnexpected = 1;
constexpr int kOutOfMemory = 4;

Verbosity verbosity(const CommandLine& line) {
  if (line.options.quiet) return Verbosity::kQuiet;
  return line.verbose ? Verbosity::kVerbose : Verbosity::kNormal;
}

int run(int argc, char** argv) {
  CLI::App app("Depth maps and a fused, coloured point cloud from calibrated photos", "reconstruct");
  app.set_version_flag("--version", std::string("reconstruct ") + version());
  app.set_config("--config", "", "TOML file with options of the same names; the command line wins");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.footer(
      "Exit codes: 0 all done, 1 unexpected failure, 2 wrong usage, 3 bad input, 4 not enough memory,\n"
      "5 no such device, 7 some views failed and the rest is written, 130 interrupted.");
  CommandLine line;
  line.declare(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw UsageError(std::string(error.what()) + "; reconstruct --help lists the options");
  }
  set_up_log(verbosity(line));
  line.finish(app);
  install_interrupt_handler();
  return run_session(line.options, std::cout);
}

}  // namespace

int main(int argc, char** argv) {
  set_up_log(Verbosity::kNormal);
  return_freed_memory();
  try {
    return run(argc, argv);
  } catch (const Interrupted& stop) {
    spdlog::warn("interrupted; what was finished is kept, and the same command goes on from there");
    return stop.exit_code();
  } catch (const Error& error) {
    spdlog::error("{}", error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    spdlog::error("out of memory; --memory-limit, --max-image-size and --threads lower what is taken");
    return kOutOfMemory;
  } catch (const std::exception& error) {
    spdlog::error("unexpected failure: {}", error.what());
    return kUnexpected;
  }
}

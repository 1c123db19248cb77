#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "core/error.hpp"
#include "core/program.hpp"
#include "core/version.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/commit.hpp"
#include "tools/wrapped_help.hpp"

namespace {

using namespace recon;

int run(int argc, char** argv) {
  CLI::App app("Benchmarks; one JSON object on standard output", "reconstruct-bench");
  app.formatter(std::make_shared<WrappedHelp>());
  app.set_version_flag("--version", std::string("reconstruct-bench ") + version() + " (" RECON_COMMIT ")");
  app.require_subcommand(1);
  Benchmarks benchmarks;
  for (const auto add :
       {add_sweep_benchmark, add_sgm_benchmark, add_block_benchmark, add_belief_benchmark,
        add_ad_census_benchmark, add_aggregation_benchmark, add_graph_cut_benchmark, add_predict_benchmarks})
    add(app, benchmarks);
  refuse_empty_arguments(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : UsageError("").exit_code();
  }
  std::string line = "reconstruct-bench";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  const std::string name = app.get_subcommands().front()->get_name();
  nlohmann::ordered_json result{{"benchmark", name}, {"commit", RECON_COMMIT}, {"command", line}};
  result.update(benchmarks.at(name)());
  std::cout << result.dump(2) << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Advice advice{"smaller problems (--planes, --radius) need less"};
  return run_program([&] { return run(argc, argv); }, advice);
}

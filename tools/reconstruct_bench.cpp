#include <iostream>
#include <string>

#include "core/error.hpp"
#include "core/program.hpp"
#include "tools/bench/benchmarks.hpp"
#include "tools/commit.hpp"
#include "tools/tool_app.hpp"

namespace {

using namespace recon;

int run(int argc, char** argv) {
  ToolApp app("Benchmarks; one JSON object on standard output", "reconstruct-bench");
  app.require_subcommand(1);
  Benchmarks benchmarks;
  for (const auto add : {add_sweep_benchmark, add_sgm_benchmark, add_block_benchmark, add_belief_benchmark,
                         add_ad_census_benchmark, add_aggregation_benchmark, add_graph_cut_benchmark,
                         add_match_benchmark, add_live_benchmark, add_predict_benchmarks})
    add(app, benchmarks);
  if (const auto exit_code = app.read(argc, argv)) return *exit_code;
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

// Runs with faults injected at random places and on random threads: after any fault, the next run has to
// produce the bytes of an undisturbed run.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>

#include "cli/in_process.hpp"
#include "torture/fault_injection.hpp"
#include "torture/torture_cases.hpp"
#include "torture/torture_summary.hpp"

namespace {

using namespace recon;
namespace fs = std::filesystem;

constexpr int kMostThreads = 8;

using Result = InProcessResult;

Words on(const fs::path& output, Words run, int threads) {
  run.insert(run.end(), {"--device", "cpu", "--quiet", "--threads", std::to_string(threads), "--output",
                         output.string()});
  return run;
}

/// The results of an undisturbed variant.
struct Undisturbed {
  fs::path results;
  std::vector<std::vector<std::uint64_t>> marks;  ///< where each of its runs can be disturbed
};

Undisturbed run_undisturbed(const fs::path& output, const std::vector<Words>& runs) {
  Undisturbed undisturbed{output, {}};
  for (const Words& run : runs) {
    const FaultCount count;
    const Result result = reconstruct_in_process(on(output, run, 2));
    if (result.exit_code != 0) throw std::runtime_error(joined(run) + ": " + result.message);
    undisturbed.marks.push_back(count.marks());
  }
  return undisturbed;
}

/// Any call, or one before or at a random mark: most calls belong to loops, and short work between files has
/// to be covered as well.
std::uint64_t random_call(const std::vector<std::uint64_t>& marks, Random& random) {
  if (random.chance(0.6)) return random.below(marks.back() + 1);
  const std::size_t mark = random.below(marks.size());
  const std::uint64_t first = mark == 0 ? 0 : marks[mark - 1] + 1;
  return first + random.below(std::max<std::size_t>(1, marks[mark] + 1 - first));
}

class FaultTorture {
 public:
  FaultTorture(fs::path folder, const std::string& only)
      : folder_(std::move(folder)), cases_(make_torture_cases(folder_, only)) {
    for (const TortureCase& it : cases_) {
      std::vector<Undisturbed>& variants = undisturbed_.emplace_back();
      for (const std::vector<Words>& runs : it.variants)
        variants.push_back(run_undisturbed(
            folder_ / "undisturbed" / (it.name + " " + std::to_string(variants.size())), runs));
    }
  }

  /// @returns whether the round's output is kept
  bool round(std::uint64_t seed) {
    watch_.begin(seed);
    Random random(seed);
    const std::size_t index = random.below(cases_.size());
    const std::vector<std::vector<Words>>& variants = cases_[index].variants;
    const std::vector<Undisturbed>& undisturbed = undisturbed_[index];
    const auto kind = static_cast<Fault::Kind>(random.below(Fault::kKinds));
    TortureRound round(summary_, folder_ / "round", seed, name_of(kind));
    std::vector<fs::path> finished;
    for (const Undisturbed& variant : undisturbed) finished.push_back(variant.results);
    begin_round(round.output(), finished, random);
    if (fs::exists(round.output())) round.did("on finished results");

    const std::size_t last = random.below(undisturbed.size());
    for (std::size_t faults = 1 + random.below(3); faults > 0; --faults) {
      const std::size_t variant = random.chance(0.7) ? last : random.below(undisturbed.size());
      disturb(round, variants[variant], undisturbed[variant], kind, random);
    }
    for (const Words& run : variants[last]) run_well(round, run, random);
    round.check(undisturbed[last].results);
    return round.keep_if_faulty();
  }

  const TortureSummary& summary() const { return summary_; }

 private:
  void run_well(TortureRound& round, const Words& run, Random& random) {
    const Words words = on(round.output(), run, 1 + static_cast<int>(random.below(kMostThreads)));
    round.did(joined(words));
    const Result result = reconstruct_in_process(words);
    if (result.exit_code != 0)
      round.fault(TortureSummary::kOdd,
                  "exit code " + std::to_string(result.exit_code) + " without a fault: " + result.message);
  }

  /// Injects a fault into one of a variant's runs; the runs before it are undisturbed.
  void disturb(TortureRound& round, const std::vector<Words>& runs, const Undisturbed& undisturbed,
               Fault::Kind kind, Random& random) {
    const std::size_t faulty = random.below(runs.size());
    for (std::size_t i = 0; i < faulty; ++i) run_well(round, runs[i], random);
    Words words = on(round.output(), runs[faulty], 1 + static_cast<int>(random.below(kMostThreads)));
    if (random.chance(0.2) && !is_fusion_alone(runs[faulty])) words.push_back("--overwrite");
    const Fault fault{kind, random_call(undisturbed.marks[faulty], random)};
    round.did(joined(words) + ": " + name_of(kind) + " from call " + std::to_string(fault.call));

    std::optional<FaultInjection> injection(fault);
    const Result result = reconstruct_in_process(words);
    const bool happened = injection->happened();
    injection.reset();
    std::vector<int> expected = happened ? exit_codes_of(kind) : std::vector<int>{0};
    if (std::find(expected.begin(), expected.end(), result.exit_code) == expected.end())
      round.fault(TortureSummary::kOdd,
                  "exit code " + std::to_string(result.exit_code) + " of a faulty run: " + result.message);
    if (happened) round.count(TortureSummary::kDisturbed);
    if (const auto names = leftovers(round.output()); !names.empty())
      round.fault(TortureSummary::kLeftover, "a faulty run left over: " + names.front());
  }

  TortureWatch watch_;
  fs::path folder_;
  TortureSummary summary_;
  std::vector<TortureCase> cases_;
  std::vector<std::vector<Undisturbed>> undisturbed_;
};

int run(int argc, char** argv) {
  CLI::App app("Throws faults into runs and compares what the next run makes of it", "fault_torture");
  int faults = 25;
  std::uint64_t seed = 1;
  bool same = false;
  std::string only;
  app.add_option("--faults", faults, "Rounds")->capture_default_str();
  app.add_option("--seed", seed, "Of the first round; each next one has the next")->capture_default_str();
  app.add_flag("--same", same, "All rounds with the same seed, to meet a fault of chance again");
  app.add_option("--case", only, "Only that case, such as sweep");
  CLI11_PARSE(app, argc, argv);

  const fs::path folder = make_torture_folder();
  FaultTorture torture(folder, only);
  int kept = 0;
  for (int i = 0; i < faults; ++i) kept += torture.round(same ? seed : seed + static_cast<std::uint64_t>(i));
  std::cout << faults << " rounds from seed " << seed << std::endl;
  torture.summary().print();
  if (kept == 0) fs::remove_all(folder);
  return torture.summary().clean() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return recon::torture_main(argc, argv, run);
}

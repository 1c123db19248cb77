// Real processes that are interrupted, killed, prevented from writing, or run concurrently on one output: in
// every case the next one has to produce the bytes of an undisturbed run.

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <iostream>

#include "cli/run_program.hpp"
#include "torture/torture_cases.hpp"
#include "torture/torture_summary.hpp"

namespace {

using namespace recon;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kMostThreads = 4;
constexpr int kBusy = 2;  // exit code if another process uses the same output

struct Settings {
  std::string program = RECON_RECONSTRUCT;
  std::string only;  ///< name of the only case to run; empty: all
  int interrupts = 6, failures = 4, kills = 4;
  std::uint64_t seed = 1;
  bool same = false;
  bool wait = false;  ///< the program has --wait
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void sleep_for(double seconds) {
  usleep(static_cast<useconds_t>(1e6 * seconds));
}

/// A time in a run: when a file of the output appears or changes, plus a delay.
struct Moment {
  fs::path file;  ///< empty: from the start of the process on
  double delay = 0;
};

/// Modification time of a file, or 0 if it does not exist.
std::int64_t time_of(const fs::path& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return 0;
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

/// The results of an undisturbed variant.
struct Undisturbed {
  fs::path results;
  std::vector<std::string> files;  ///< all files that it writes
  double seconds = 0;              ///< of the longest of its runs
};

/// The state of one round.
struct Disturbed {
  TortureRound& round;
  Random& random;
  const std::vector<Words>& runs;  ///< of the variant to disturb
  const Undisturbed& undisturbed;
  std::vector<Words> others;  ///< runs of any variant, for a second process
};

class Torture {
 public:
  Torture(fs::path folder, Settings settings)
      : folder_(std::move(folder)),
        settings_(std::move(settings)),
        cases_(make_torture_cases(folder_, settings_.only)) {
    for (const char* name : {"first", "second"}) fs::create_directory(folder_ / name);
    for (const TortureCase& it : cases_) {
      std::vector<Undisturbed>& variants = undisturbed_.emplace_back();
      for (const std::vector<Words>& runs : it.variants)
        variants.push_back(run_undisturbed(
            folder_ / "undisturbed" / (it.name + " " + std::to_string(variants.size())), runs));
    }
  }

  using Disturb = void (Torture::*)(Disturbed&);

  /// @param kinds  the seed selects one of them
  /// @returns whether the round's output is kept
  bool round(std::uint64_t seed, const std::vector<std::pair<const char*, Disturb>>& kinds) {
    watch_.begin(seed);
    Random random(seed);
    const auto [kind, disturb] = random.pick(kinds);
    const std::size_t index = random.below(cases_.size());
    const std::vector<std::vector<Words>>& variants = cases_[index].variants;
    TortureRound round(summary_, folder_ / "round", seed, kind);
    std::vector<fs::path> finished;
    for (const Undisturbed& variant : undisturbed_[index]) finished.push_back(variant.results);
    begin_round(round.output(), finished, random);
    if (fs::exists(round.output())) round.did("on finished results");

    const std::size_t last = random.below(variants.size());
    for (std::size_t times = 1 + random.below(2); times > 0; --times) {
      const std::size_t variant = random.chance(0.6) ? last : random.below(variants.size());
      Disturbed disturbed{round, random, variants[variant], undisturbed_[index][variant], {}};
      for (const std::vector<Words>& runs : variants)
        disturbed.others.insert(disturbed.others.end(), runs.begin(), runs.end());
      (this->*disturb)(disturbed);
    }
    for (const Words& run : variants[last]) run_well(round, run, random);
    round.check(undisturbed_[index][last].results);
    return round.keep_if_faulty();
  }

  void interrupt(Disturbed& it) {
    const int number = it.random.chance(0.5) ? SIGINT : SIGTERM;
    const bool twice = it.random.chance(0.1);
    const Words words = next_run(it);
    Process process(folder_ / "first", words);
    await(process, random_moment(it), it);
    process.send(number);
    if (twice) sleep_for(0.01 * it.random.unit());
    if (twice) process.send(number);
    const Outcome outcome = process.wait();
    it.round.did(joined(words) + ": signal " + std::to_string(number) + (twice ? " twice" : "") +
                 ended(outcome));
    if (outcome.exit_code != 0) it.round.count(TortureSummary::kDisturbed);
    // Before the program installs its signal handlers, signals terminate it.
    const int second = twice ? 128 + number : 130;
    expect(it.round, outcome, {0, 130, second}, number);
  }

  void kill_one(Disturbed& it) {
    const Words words = next_run(it);
    Process process(folder_ / "first", words);
    await(process, random_moment(it), it);
    process.send(SIGKILL);
    const Outcome outcome = process.wait();
    it.round.did(joined(words) + ": killed" + ended(outcome));
    if (outcome.exit_code != 0) it.round.count(TortureSummary::kDisturbed);
    expect(it.round, outcome, {0}, SIGKILL);
  }

  /// Two processes on one output, one of which may be killed.
  void two_at_once(Disturbed& it) {
    const bool wait = settings_.wait && it.random.chance(0.5), killed = it.random.chance(0.5);
    Words words = next_run(it), other = command(it.round.output(), it.random.pick(it.others), it.random);
    if (it.random.chance(0.5)) other = words;
    if (wait)
      for (Words* run : {&words, &other}) run->push_back("--wait");
    Process first(folder_ / "first", words);
    if (it.random.chance(0.7)) await(first, random_moment(it), it);
    Process second(folder_ / "second", other);
    if (killed) await(first, {{}, 1.5 * it.undisturbed.seconds * it.random.unit()}, it);
    if (killed) (it.random.chance(0.5) ? first : second).send(SIGKILL);
    int refused = 0;
    for (const auto& [process, run] : {std::pair(&first, &words), std::pair(&second, &other)}) {
      const Outcome outcome = process->wait();
      it.round.did(joined(*run) + ": two at once" + (killed ? ", one killed" : "") + ended(outcome));
      std::vector<int> expected = {0};
      if (!wait) expected.push_back(kBusy);
      // A run with --stage fuse finds no maps that the other process has not written yet.
      if (is_fusion_alone(*run)) expected.insert(expected.end(), {3, 7});
      expect(it.round, outcome, expected, killed ? SIGKILL : 0);
      refused += outcome.exit_code == kBusy;
    }
    it.round.count(TortureSummary::kDisturbed);
    if (refused == 2) it.round.fault(TortureSummary::kOdd, "each process was refused for the other");
  }

  /// A folder has the name of an output file.
  void block_a_file(Disturbed& it) {
    const Words words = next_run(it);
    const std::string name = it.random.pick(it.undisturbed.files);
    const fs::path file = it.round.output() / name;
    fs::remove(file);
    fs::create_directories(file);
    const Outcome outcome = Process(folder_ / "first", words).wait();
    it.round.did(joined(words) + ": " + name + " is a folder" + ended(outcome));
    const bool in_the_way = fs::is_directory(file);
    // Of several runs, another one may write the file, or this one may read it.
    const bool one_run = it.runs.size() == 1;
    if (outcome.exit_code != 0) it.round.count(TortureSummary::kDisturbed);
    std::vector<int> expected = {1};
    if (!in_the_way || !one_run) expected.push_back(0);
    if (!one_run) expected.insert(expected.end(), {3, 7});
    expect(it.round, outcome, expected);
    if (in_the_way) fs::remove_all(file);
  }

  /// Limits the file size, which simulates a full disk.
  void limit_file_size(Disturbed& it) {
    constexpr double kMostBlocks = 400;  // of 512 bytes
    const int blocks = static_cast<int>(std::exp(std::log(kMostBlocks) * it.random.unit()));
    const bool ends_by_signal = it.random.chance(0.2);
    const Words words = next_run(it);
    Words limited = {"/bin/sh", "-c",
                     std::string(ends_by_signal ? "" : "trap '' XFSZ; ") + "ulimit -c 0; ulimit -f " +
                         std::to_string(blocks) + "; exec \"$@\"",
                     "sh"};
    limited.insert(limited.end(), words.begin(), words.end());
    const Outcome outcome = Process(folder_ / "first", limited).wait();
    it.round.did(joined(words) + ": files up to " + std::to_string(blocks) + " blocks" + ended(outcome));
    if (outcome.exit_code != 0) it.round.count(TortureSummary::kDisturbed);
    expect(it.round, outcome, {0, 1}, ends_by_signal ? SIGXFSZ : 0);
  }

  /// Makes a folder of the output read-only.
  void forbid_a_folder(Disturbed& it) {
    const Words words = next_run(it);
    const fs::path folder = (it.round.output() / it.random.pick(it.undisturbed.files)).parent_path();
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_write, fs::perm_options::remove);
    const Outcome outcome = Process(folder_ / "first", words).wait();
    fs::permissions(folder, fs::perms::owner_write, fs::perm_options::add);
    it.round.did(joined(words) + ": " + folder.string() + " is read-only" + ended(outcome));
    if (outcome.exit_code != 0) it.round.count(TortureSummary::kDisturbed);
    expect(it.round, outcome, {0, 1});
  }

  const TortureSummary& summary() const { return summary_; }

 private:
  Words command(const fs::path& output, const Words& run, Random& random) const {
    Words words = {
        settings_.program, "--device",     "cpu", "--threads", std::to_string(1 + random.below(kMostThreads)),
        "--output",        output.string()};
    words.insert(words.end(), run.begin(), run.end());
    return words;
  }

  Undisturbed run_undisturbed(const fs::path& output, const std::vector<Words>& runs) const {
    Undisturbed undisturbed{output, {}, 0};
    Random random(0);
    for (const Words& run : runs) {
      const Clock::time_point start = Clock::now();
      const Outcome outcome = run_program(folder_, command(output, run, random));
      if (outcome.exit_code != 0) throw std::runtime_error(joined(run) + ": " + outcome.err);
      undisturbed.seconds = std::max(undisturbed.seconds, seconds_since(start));
    }
    for (const auto& [name, bytes] : files_below(output)) undisturbed.files.push_back(name);
    return undisturbed;
  }

  static std::string ended(const Outcome& outcome) {
    if (outcome.signal != 0) return " (ended by signal " + std::to_string(outcome.signal) + ")";
    return " (exit code " + std::to_string(outcome.exit_code) + ")";
  }

  /// @param signal  that may also have terminated the process
  static void expect(TortureRound& round, const Outcome& outcome, const std::vector<int>& codes,
                     int signal = 0) {
    if (outcome.signal != 0 && outcome.signal == signal) return;
    if (outcome.signal != 0 || std::find(codes.begin(), codes.end(), outcome.exit_code) == codes.end())
      round.fault(TortureSummary::kOdd, "odd end" + ended(outcome) + ": " + outcome.err);
  }

  void run_well(TortureRound& round, const Words& run, Random& random) const {
    const Words words = command(round.output(), run, random);
    const Outcome outcome = Process(folder_ / "first", words).wait();
    round.did(joined(words) + ended(outcome));
    expect(round, outcome, {0});
  }

  /// A run of the variant, after those before it.
  Words next_run(Disturbed& it) const {
    const std::size_t next = it.random.below(it.runs.size());
    for (std::size_t i = 0; i < next; ++i) run_well(it.round, it.runs[i], it.random);
    Words words = command(it.round.output(), it.runs[next], it.random);
    if (it.random.chance(0.2) && !is_fusion_alone(it.runs[next])) words.push_back("--overwrite");
    return words;
  }

  /// A time near the write of a random file, so that short steps are covered as often as long ones, or any
  /// time.
  static Moment random_moment(Disturbed& it) {
    if (it.random.chance(0.25)) return {{}, 1.2 * it.undisturbed.seconds * it.random.unit()};
    const double between = it.undisturbed.seconds / static_cast<double>(it.undisturbed.files.size());
    return {it.round.output() / it.random.pick(it.undisturbed.files), 2 * between * it.random.unit()};
  }

  static void await(Process& process, const Moment& moment, const Disturbed& it) {
    const std::int64_t before = time_of(moment.file);
    const Clock::time_point start = Clock::now();
    // A file that is reused never changes.
    const double longest = moment.file.empty() ? 0 : 2 * it.undisturbed.seconds;
    while (process.running() && seconds_since(start) < longest && time_of(moment.file) == before)
      sleep_for(2e-4);
    sleep_for(moment.delay);
  }

  TortureWatch watch_;
  fs::path folder_;
  Settings settings_;
  TortureSummary summary_;
  std::vector<TortureCase> cases_;
  std::vector<std::vector<Undisturbed>> undisturbed_;
};

int run(int argc, char** argv) {
  CLI::App app("Disturbs processes and compares what the next one makes of it", "process_torture");
  Settings settings;
  app.add_option("--program", settings.program, "The reconstruct to disturb")->capture_default_str();
  app.add_option("--case", settings.only, "Only that case, such as sweep");
  app.add_option("--interrupts", settings.interrupts, "Rounds with SIGINT or SIGTERM")->capture_default_str();
  app.add_option("--failures", settings.failures, "Rounds with files that cannot be written")
      ->capture_default_str();
  app.add_option("--kills", settings.kills, "Rounds with SIGKILL, half of them with two processes at once")
      ->capture_default_str();
  app.add_option("--seed", settings.seed, "Of the first round; each next one has the next")
      ->capture_default_str();
  app.add_flag("--same", settings.same, "All rounds with the same seed, to meet a fault of chance again");
  app.add_flag("--wait", settings.wait, "Use --wait in a part of the rounds with two processes");
  CLI11_PARSE(app, argc, argv);

  const fs::path folder = make_torture_folder();
  Torture torture(folder, settings);
  std::uint64_t seed = settings.seed;
  int kept = 0;
  const auto rounds = [&](int count, const std::vector<std::pair<const char*, Torture::Disturb>>& kinds) {
    for (int i = 0; i < count; ++i) kept += torture.round(settings.same ? settings.seed : seed++, kinds);
  };
  rounds(settings.interrupts, {{"interrupted", &Torture::interrupt}});
  std::vector<std::pair<const char*, Torture::Disturb>> failures = {
      {"file is a folder", &Torture::block_a_file}, {"file too large", &Torture::limit_file_size}};
  if (geteuid() != 0) failures.push_back({"read-only folder", &Torture::forbid_a_folder});  // not for root
  rounds(settings.failures, failures);
  rounds(settings.kills, {{"killed", &Torture::kill_one}, {"two at once", &Torture::two_at_once}});
  std::cout << "rounds from seed " << settings.seed << std::endl;
  torture.summary().print();
  if (kept == 0) fs::remove_all(folder);
  return torture.summary().clean() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return recon::torture_main(argc, argv, run);
}

#include "torture/torture_summary.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <utility>

#include "torture/torture_cases.hpp"

namespace recon {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kNamesShown = 6;
constexpr unsigned kLongestRound = 300;  // seconds

/// The text that the signal handler prints.
char round_text[80];

void on_timeout(int) {
  constexpr char kMessage[] = "a round hangs: ";
  [[maybe_unused]] auto written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  written = write(STDERR_FILENO, round_text, sizeof round_text);
  abort();  // leaves a core dump for inspection
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i)
    text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kNamesShown) text += " and " + std::to_string(names.size() - kNamesShown) + " more";
  return text;
}

}  // namespace

void TortureSummary::print() const {
  std::printf("%-24s %8s %12s %8s %10s %10s\n", "kind", "rounds", "disturbances", "wrong", "leftovers",
              "odd exits");
  for (const auto& [kind, n] : counts_)
    std::printf("%-24s %8d %12d %8d %10d %10d\n", kind.c_str(), n[kRounds], n[kDisturbed], n[kWrong],
                n[kLeftover], n[kOdd]);
}

bool TortureSummary::clean() const {
  return std::all_of(counts_.begin(), counts_.end(), [](const auto& entry) {
    return entry.second[kWrong] + entry.second[kLeftover] + entry.second[kOdd] == 0;
  });
}

TortureRound::TortureRound(TortureSummary& summary, fs::path output, std::uint64_t seed, std::string kind)
    : summary_(summary), output_(std::move(output)), seed_(seed), kind_(std::move(kind)) {
  count(TortureSummary::kRounds);
}

void TortureRound::fault(TortureSummary::Column column, const std::string& what) {
  count(column);
  faulty_ = true;
  std::cout << kind_ << ", seed " << seed_ << ": " << what << story_ << std::endl;
}

void TortureRound::check(const fs::path& wanted) {
  if (const auto wrong = wrong_results(wanted, output_); !wrong.empty())
    fault(TortureSummary::kWrong, listed(wrong));
  if (const auto names = leftovers(output_); !names.empty())
    fault(TortureSummary::kLeftover, "left over: " + listed(names));
}

bool TortureRound::keep_if_faulty() {
  if (!faulty_) return false;
  fs::path kept = output_;
  kept += "-of-seed-" + std::to_string(seed_);
  fs::remove_all(kept);
  if (fs::exists(output_)) fs::rename(output_, kept);
  std::cout << "    kept in " << kept.string() << std::endl;
  return true;
}

int torture_main(int argc, char** argv, int (*run)(int, char**)) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 2;
  }
}

TortureWatch::TortureWatch() {
  signal(SIGALRM, on_timeout);
}

void TortureWatch::begin(std::uint64_t seed) const {
  std::snprintf(round_text, sizeof round_text, "seed %llu\n", static_cast<unsigned long long>(seed));
  alarm(kLongestRound);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace recon

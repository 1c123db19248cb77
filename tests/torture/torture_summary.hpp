#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace recon {

/// Outcomes of the rounds of each kind.
class TortureSummary {
 public:
  enum Column { kRounds, kDisturbed, kWrong, kLeftover, kOdd, kColumns };

  void count(const std::string& kind, Column column) { ++counts_[kind][column]; }

  /// Prints a table to standard output.
  void print() const;

  /// Whether there is no wrong result, no temporary file left, and no unexpected exit code.
  bool clean() const;

 private:
  std::map<std::string, std::array<int, kColumns>> counts_;
};

/// One round: its faults, and how to reproduce it.
class TortureRound {
 public:
  /// @param seed  of the round
  TortureRound(TortureSummary& summary, std::filesystem::path output, std::uint64_t seed, std::string kind);

  /// Records an action, for the report of a round with faults.
  void did(const std::string& what) { story_ += "\n    " + what; }
  void count(TortureSummary::Column column) { summary_.count(kind_, column); }

  /// Counts and prints a fault, with the recorded actions.
  void fault(TortureSummary::Column column, const std::string& what);

  /// Compares the output with the expected results.
  void check(const std::filesystem::path& wanted);

  /// Whether the output is kept for inspection; if so, it is moved aside before the next round.
  bool keep_if_faulty();

  const std::filesystem::path& output() const { return output_; }

 private:
  TortureSummary& summary_;
  std::filesystem::path output_;
  std::uint64_t seed_;
  std::string kind_, story_;
  bool faulty_ = false;
};

/// The body of a torture program's `main`: returns 2 if `run`, which returns its exit code, throws.
int torture_main(int argc, char** argv, int (*run)(int, char**));

/// Terminates the process if a round takes longer than some minutes, and reports which one.
class TortureWatch {
 public:
  TortureWatch();
  void begin(std::uint64_t seed) const;
};

/// Joins the arguments with blanks.
std::string joined(const std::vector<std::string>& words);

}  // namespace recon

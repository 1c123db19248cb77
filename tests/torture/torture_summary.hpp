#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace recon {

/// What the rounds of each kind came to.
class TortureSummary {
 public:
  enum Column { kRounds, kDisturbed, kWrong, kLeftover, kOdd, kColumns };

  void count(const std::string& kind, Column column) { ++counts_[kind][column]; }

  /// A table, to standard output.
  void print() const;

  /// Whether there is neither a wrong result, nor a temporary file left, nor an odd exit code.
  bool clean() const;

 private:
  std::map<std::string, std::array<int, kColumns>> counts_;
};

/// One round: what went wrong in it, and how to see it again.
class TortureRound {
 public:
  /// @param seed  of the round
  TortureRound(TortureSummary& summary, std::filesystem::path output, std::uint64_t seed, std::string kind);

  /// Notes one more thing that was done, for the report of a round that goes wrong.
  void did(const std::string& what) { story_ += "\n    " + what; }
  void count(TortureSummary::Column column) { summary_.count(kind_, column); }

  /// Counts and prints a fault, with its story.
  void fault(TortureSummary::Column column, const std::string& what);

  /// Compares the output with what it has to be.
  void check(const std::filesystem::path& wanted);

  /// Whether the output is to be kept for inspection; then it is moved out of the way of the next round.
  bool keep_if_faulty();

  const std::filesystem::path& output() const { return output_; }

 private:
  TortureSummary& summary_;
  std::filesystem::path output_;
  std::uint64_t seed_;
  std::string kind_, story_;
  bool faulty_ = false;
};

/// The body of a torture program's `main`: 2 where `run`, which returns its exit code, throws.
int torture_main(int argc, char** argv, int (*run)(int, char**));

/// Ends the process when a round takes longer than some minutes, and says which.
class TortureWatch {
 public:
  TortureWatch();
  void begin(std::uint64_t seed) const;
};

/// Words with blanks between them.
std::string joined(const std::vector<std::string>& words);

}  // namespace recon

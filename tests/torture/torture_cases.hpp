#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace recon {

using Words = std::vector<std::string>;

/// A way to use the program: runs that follow each other, all into one output folder, which is not among
/// their words. What they leave depends on the last variant alone that ran to its end.
struct TortureCase {
  std::string name;
  std::vector<std::vector<Words>> variants;
};

/// Renders small inputs into `folder` and returns what is done with them: every method on photos of a lens
/// and of none, single stages, shards, rectified pairs.
/// @param only  the name of the one case wanted; empty: all
/// @throws std::runtime_error when there is none of that name
std::vector<TortureCase> make_torture_cases(const std::filesystem::path& folder, const std::string& only);

/// A new folder for everything, also for what programs keep of this machine.
std::filesystem::path make_torture_folder();

/// Whether a run needs the depth maps of others.
bool is_fusion_alone(const Words& run);

/// Files that differ, are missing or are too many in `found`, with what is wrong with each; empty when every
/// result byte is as in `wanted`. Files that hold times are left out.
std::vector<std::string> wrong_results(const std::filesystem::path& wanted,
                                       const std::filesystem::path& found);

/// Temporary files that no run will ever finish.
std::vector<std::string> leftovers(const std::filesystem::path& folder);

/// Random numbers that a seed determines.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// 0 <= value < count
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  double unit() { return std::uniform_real_distribution<double>(0, 1)(engine_); }
  bool chance(double share) { return unit() < share; }
  template <class Container>
  const auto& pick(const Container& container) {
    return container[below(container.size())];
  }

 private:
  std::mt19937_64 engine_;
};

/// A state that a round can begin with: nothing, or the finished results of a variant.
/// @param variants  folders of the finished results
void begin_round(const std::filesystem::path& output, const std::vector<std::filesystem::path>& variants,
                 Random& random);

}  // namespace recon

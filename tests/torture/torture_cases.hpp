#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace recon {

using Words = std::vector<std::string>;

/// A use of the program: consecutive runs, all into one output folder, which is not among their arguments.
/// The results depend only on the last variant that completed.
struct TortureCase {
  std::string name;
  std::vector<std::vector<Words>> variants;
};

/// Renders small inputs into `folder` and returns the uses of them: every method on photos with and without
/// distortion, single stages, shards, rectified pairs.
/// @param only  name of the only case to return; empty: all
/// @throws std::runtime_error if there is no case of that name
std::vector<TortureCase> make_torture_cases(const std::filesystem::path& folder, const std::string& only);

/// A new folder for everything, including the machine-specific caches of programs.
std::filesystem::path make_torture_folder();

/// Whether a run uses the depth maps of other runs.
bool is_fusion_alone(const Words& run);

/// Files that differ, are missing or are superfluous in `found`, with the fault of each; empty if all results
/// are bit-identical to `wanted`. Files that contain times are excluded.
std::vector<std::string> wrong_results(const std::filesystem::path& wanted,
                                       const std::filesystem::path& found);

/// Temporary files left by terminated runs.
std::vector<std::string> leftovers(const std::filesystem::path& folder);

/// Pseudo-random numbers determined by a seed.
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

/// Creates the initial state of a round: nothing, or the finished results of a variant.
/// @param variants  folders of the finished results
void begin_round(const std::filesystem::path& output, const std::vector<std::filesystem::path>& variants,
                 Random& random);

}  // namespace recon

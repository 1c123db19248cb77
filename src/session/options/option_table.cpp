#include "session/options/option_table.hpp"

#include <algorithm>

namespace recon {

namespace {

/// The fewest letters to insert, delete, replace or exchange with their neighbour that make one word of the
/// other (Damerau 1964, adjacent exchanges).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

const std::vector<OptionGroup>& option_groups() {
  static const std::vector<OptionGroup> kGroups = {
      work_options(),  matching_options(), stage_options(), pair_options(),   semi_global_options(),
      block_options(), belief_options(),   view_options(),  filter_options(), machine_options()};
  return kGroups;
}

std::vector<const Option*> all_options() {
  std::vector<const Option*> all;
  for (const OptionGroup& group : option_groups())
    for (const Option& option : group.options) all.push_back(&option);
  return all;
}

const Option* find_option(const std::string& name) {
  for (const Option* option : all_options())
    if (option->name == name) return option;
  return nullptr;
}

std::string most_similar_option(const std::string& word) {
  constexpr std::size_t kMinWord = 2, kMaxWord = 64, kMinBeginning = 3;
  if (word.size() < kMinWord || word.size() > kMaxWord) return {};
  std::string best;
  std::size_t least = word.size() / 3 + 1;  // one letter in three may be wrong
  for (const Option* option : all_options()) {
    const bool begins = word.size() >= kMinBeginning && option->name.starts_with(word);
    const std::size_t distance = begins ? 0 : edit_distance(word, option->name);
    if (distance < least) best = option->name, least = distance;
  }
  return best;
}

bool is_of_terminal(const Option& option) {
  return contains({"quiet", "verbose", "json", "help", "help-all", "version", "config", "progress"},
                  option.name);
}

}  // namespace recon

#include "session/options/option_table.hpp"

namespace recon {

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

}  // namespace recon

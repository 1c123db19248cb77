#pragma once

#include <string>
#include <vector>

#include "session/options/option.hpp"

namespace recon {

/// All options, in the order in which they apply.
const std::vector<OptionGroup>& option_groups();
std::vector<const Option*> all_options();

/// The option of a name such as "window", or null.
const Option* find_option(const std::string& name);

// The groups of the table, each in a file of its name or that of its neighbours.
OptionGroup work_options();
OptionGroup matching_options();
OptionGroup stage_options();
OptionGroup pair_options();
OptionGroup semi_global_options();
OptionGroup block_options();
OptionGroup belief_options();
OptionGroup view_options();
OptionGroup filter_options();
OptionGroup machine_options();

}  // namespace recon

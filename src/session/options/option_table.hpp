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

/// The option whose name is most like a word, such as qualty; empty where none is like it.
std::string most_similar_option(const std::string& word);

/// Whether it belongs to the command line and a terminal, so that a library does not have it.
bool is_of_terminal(const Option& option);

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

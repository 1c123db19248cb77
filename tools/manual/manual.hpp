#pragma once

#include <string>

namespace recon {

// The manual of `reconstruct`, from the descriptions of its options.

/// What `reconstruct --help` prints, at most 100 columns wide.
std::string help_text();

/// The manual page, in the macros of man(7).
std::string man_page(const std::string& version);

/// A script that completes options and their keywords in bash.
std::string bash_completion();

}  // namespace recon

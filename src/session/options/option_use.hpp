#pragma once

#include <string>
#include <vector>

#include "session/options/options.hpp"

namespace recon {

/// Whether an option, such as "--paths", has a meaning for a job. Options of every job are not known here:
/// they have one.
bool uses_option(Job job, const std::string& option);

/// @param jobs  of all inputs, at least one
/// @throws UsageError for the first of `given` that none of the jobs uses, and says what it is for
void check_given(const std::vector<std::string>& given, const std::vector<Job>& jobs);

/// @throws UsageError for the first of `options.given` that changes nothing for any of the jobs that use it,
/// as the other options are: penalties where nothing is penalised
void check_idle(const SessionOptions& options, const std::vector<Job>& jobs);

/// The options that a job is done with, as TOML: of `options.toml` the lines that the job uses, and the
/// values of those whose default depends on the method.
std::string resolved_options(const SessionOptions& options, Job job);

}  // namespace recon

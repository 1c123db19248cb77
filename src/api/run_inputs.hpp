#pragma once

#include <exception>
#include <filesystem>
#include <iosfwd>
#include <vector>

#include "core/program.hpp"
#include "session/options/options.hpp"

namespace reconstruct::detail {

/// What a run of the program `reconstruct` and one of the public `run` have in common, which is all but what
/// surrounds it: the program has a log and a progress bar on its terminal, and a handler of signals; `run`
/// has a listener and a stop token, and throws.
/// @param out    for the result: a short summary, the plan, or with `json` one object
/// @param error  set where the exit code says that there are no results: what ended it, or the first input
/// @returns the exit code of the program
/// @throws as recon::run_session; UsageError for a value that an option does not take
int run_inputs(const std::vector<std::filesystem::path>& inputs, const recon::GivenOptions& given,
               std::ostream& out, std::exception_ptr* error = nullptr);

/// What a run that fails advises its user to do.
const recon::Advice& run_advice();

}  // namespace reconstruct::detail

#include "api/call.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/program.hpp"
#include "session/options/option.hpp"

namespace reconstruct::detail {

using namespace recon;

void rethrow_typed() {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (...) {
    const Failure failure = current_failure({"lower the number of threads, or take smaller images", ""});
    if (failure.exit_code == OutOfMemory("").exit_code()) throw OutOfMemory(failure.message);
    throw;
  }
}

namespace {

std::string no_such_option(const std::string& name) {
  const auto with = [](std::string text, char from, char to) {
    std::ranges::replace(text, from, to);
    return text;
  };
  const std::string similar = most_similar_option(with(name, '_', '-'));
  const std::string text = "there is no option '" + name + "'; ";
  if (!similar.empty())
    return text + "did you mean '" + similar + "', in Python " + with(similar, '-', '_') + "?";
  return text + "names are those of the command line, such as 'max-disparity', in Python max_disparity";
}

}  // namespace

GivenOptions given_options(const Options& options) {
  GivenOptions given;
  for (const auto& [name, value] : options) {
    if (find_option(name) == nullptr) throw UsageError(no_such_option(name));
    if (value.empty()) throw UsageError("--" + name + " has an empty value");
    given[name] = {value};
  }
  return given;
}

SessionOptions parse_results_options(const Options& options, const char* call, bool pair,
                                     const std::set<OptionResult>& results) {
  const GivenOptions given = given_options(options);
  for (const auto& [name, option] : given)
    if (find_option(name)->scope != OptionScope::kResults)
      throw UsageError("--" + name + " has no meaning for " + call +
                       ", which works in memory: it takes options that change results; threads, device and " +
                       "memory limits are those of the device");
  SessionOptions parsed = parse_options(given);
  const Job job{parsed.method_of(pair), pair};
  parsed.check({job});
  for (const auto& [name, option] : given) {
    const Option& it = *find_option(name);
    if (!results.empty() &&
        !results.contains(parsed.swept_by_patches(job) ? it.result_with_patches : it.result))
      throw UsageError("--" + name + " has no effect on the results of " + call);
  }
  return parsed;
}

}  // namespace reconstruct::detail

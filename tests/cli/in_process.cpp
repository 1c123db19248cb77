#include "cli/in_process.hpp"

#include <exception>
#include <new>
#include <sstream>

#include "core/error.hpp"
#include "session/session.hpp"
#include "tools/command_line.hpp"

namespace recon {

InProcessResult reconstruct_in_process(const std::vector<std::string>& words) {
  try {
    std::vector<const char*> arguments = {"reconstruct"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    const CommandLine line = parse_command_line(static_cast<int>(arguments.size()), arguments.data());
    SessionOptions options = parse_options(line.given);
    options.inputs = line.inputs;
    std::ostringstream out;
    std::exception_ptr error;
    const int exit_code = run_session(options, out, &error);
    if (!error) return {exit_code, {}};
    std::rethrow_exception(error);
  } catch (const Error& error) {
    return {error.exit_code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {4, "out of memory"};
  } catch (const std::exception& error) {
    return {1, std::string("unexpected failure: ") + error.what()};
  }
}

}  // namespace recon

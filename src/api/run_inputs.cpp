#include "api/run_inputs.hpp"

#include <commit.hpp>

#include "session/session.hpp"

namespace reconstruct::detail {

int run_inputs(const std::vector<std::filesystem::path>& inputs, const recon::GivenOptions& given,
               std::ostream& out, std::exception_ptr* error) {
  recon::SessionOptions options = recon::parse_options(given);
  options.inputs = inputs;
  options.commit = RECON_COMMIT;
  return recon::run_session(options, out, error);
}

const recon::Advice& run_advice() {
  return recon::kSessionAdvice;
}

}  // namespace reconstruct::detail

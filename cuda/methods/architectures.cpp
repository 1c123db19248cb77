#include "cuda/methods/architectures.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace recon::cuda {
namespace {

constexpr std::string_view kMachineCode = "sm_", kPtxCode = "compute_";

struct Architecture {
  std::string_view name;
  bool is_ptx = false;
  int major = 0;
  int minor = 0;
  char suffix = '\0';  ///< a, f, or none
};

std::optional<Architecture> parse(std::string_view word) {
  Architecture it{word, word.starts_with(kPtxCode)};
  const std::string_view digits =
      word.substr(std::min(word.size(), (it.is_ptx ? kPtxCode : kMachineCode).size()));
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc()) return std::nullopt;
  constexpr int kBase = 10;
  it.major = number / kBase;
  it.minor = number % kBase;
  if (end != digits.data() + digits.size()) it.suffix = *end;
  return it;
}

std::vector<Architecture> parse_all(std::string_view built) {
  std::vector<Architecture> all;
  while (!built.empty()) {
    const std::size_t end = std::min(built.find(' '), built.size());
    if (const auto it = parse(built.substr(0, end))) all.push_back(*it);
    built.remove_prefix(std::min(end + 1, built.size()));
  }
  return all;
}

bool runs_on(const Architecture& code, ComputeCapability gpu) {
  const bool same_major = gpu.major == code.major;
  if (code.suffix == 'a') return same_major && gpu.minor == code.minor;
  if (same_major) return gpu.minor >= code.minor;
  return code.is_ptx && code.suffix == '\0' && gpu.major > code.major;
}

}  // namespace

CodeFor code_for(std::string_view built, ComputeCapability gpu) {
  CodeFor found = CodeFor::kNone;
  for (const Architecture& code : parse_all(built))
    if (runs_on(code, gpu)) found = std::max(found, code.is_ptx ? CodeFor::kPtx : CodeFor::kMachine);
  return found;
}

std::string described_code(std::string_view built) {
  std::string machine, ptx;
  for (const Architecture& code : parse_all(built)) {
    std::string& list = code.is_ptx ? ptx : machine;
    list += (list.empty() ? "" : ", ") + std::string(code.name);
  }
  if (!machine.empty()) machine = "code for " + machine;
  if (!ptx.empty()) machine += (machine.empty() ? "PTX for " : ", PTX for ") + ptx;
  return machine;
}

}  // namespace recon::cuda

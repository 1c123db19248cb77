#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace recon {

/// Calls `parse(bytes, name)` on the input; a refusal as InputError is fine, every other exception is a
/// finding.
template <class Parse>
int feed(const std::uint8_t* data, std::size_t size, const Parse& parse) {
  static const std::string kName = "input";
  try {
    parse(std::string_view(reinterpret_cast<const char*>(data), size), kName);
  } catch (const InputError&) {
  }
  return 0;
}

}  // namespace recon

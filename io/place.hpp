#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace recon {

/// A place in an input file, for messages: a line (text) or a byte offset (binary), both of `file`.
struct FilePlace {
  enum class Unit { kLine, kByte };

  const std::string& file;
  Unit unit;
  std::uint64_t position;

  /// "cameras.txt:4" or "cameras.bin: byte 24".
  std::string text() const {
    return file + (unit == Unit::kLine ? ":" : ": byte ") + std::to_string(position);
  }

  /// @throws InputError "<place>: <message>"
  [[noreturn]] void fail(const std::string& message) const { throw InputError(text() + ": " + message); }
};

}  // namespace recon

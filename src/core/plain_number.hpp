#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <type_traits>

namespace recon {

/// A number for people: the shortest decimal text that is read back as the same number, without an exponent
/// where it is neither tiny nor huge.
template <class T>
std::string plain(T value) {
  constexpr double kTiny = 1e-9, kHuge = 1e15;
  char text[64];
  if constexpr (std::is_floating_point_v<T>)
    if (std::abs(value) >= static_cast<T>(kTiny) && std::abs(value) < static_cast<T>(kHuge))
      return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr};
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// The same, rounded to some significant digits.
inline std::string plain(double value, int digits) {
  char text[64];
  const char* const end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits - 1).ptr;
  std::from_chars(text, end, value);
  return plain(value);
}

}  // namespace recon

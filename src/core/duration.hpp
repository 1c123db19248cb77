#pragma once

#include <string>

namespace recon {

/// A time for people, of two digits in the unit of its size: "0.04 s", "3.5 s", "45 s", "3.5 min", "2.5 h".
/// So is each that is predicted: more digits than these are never right.
/// @param seconds  >= 0
std::string duration_text(double seconds);

/// The same of what has ended, with tenths below 10 s: nothing takes less than 0.1 s.
std::string measured_text(double seconds);

}  // namespace recon

#pragma once

#include <string>

namespace recon {

/// The message of the E that `body` throws; "(nothing thrown)" if it throws nothing. Other exceptions
/// propagate.
template <class E, class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

}  // namespace recon

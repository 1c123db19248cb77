#pragma once

#include <map>
#include <string>

#include "core/error.hpp"

namespace recon {

/// The value that `word` names.
/// @throws UsageError that lists the words there are
template <class Value>
Value named(const std::string& option, const std::string& word, const std::map<std::string, Value>& values) {
  const auto found = values.find(word);
  if (found != values.end()) return found->second;
  std::string words;
  for (const auto& entry : values) words += (words.empty() ? "" : ", ") + entry.first;
  throw UsageError(option + " is '" + word + "'; it can be " + words);
}

}  // namespace recon

#include "io/safe_name.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "io/text_scanner.hpp"

namespace recon {
namespace {

bool is_separator(char c) {
  return c == '/' || c == '\\';
}

bool has_drive(std::string_view name) {
  return name.size() >= 2 && name[1] == ':' && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

bool has_parent_component(std::string_view name) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("/\\", begin), name.size());
    if (name.substr(begin, end - begin) == "..") return true;
    begin = end + 1;
  }
  return false;
}

/// Reason for rejecting `name`; empty if it is accepted.
std::string_view refusal(std::string_view name) {
  if (name.empty()) return "is empty";
  if (std::any_of(name.begin(), name.end(), is_control)) return "contains a control character";
  if (is_separator(name.front()) || has_drive(name)) return "is an absolute path";
  if (has_parent_component(name)) return "has a \"..\" component and may lead outside its folder";
  const std::string_view file = name.substr(name.find_last_of("/\\") + 1);
  if (file.empty() || file == ".") return "names a folder";
  return {};
}

}  // namespace

void check_relative_name(std::string_view name, const FilePlace& place) {
  const std::string_view reason = refusal(name);
  if (!reason.empty())
    place.fail("the name " + in_quotes(name) + " " + std::string(reason) +
               "; names have to be relative to the image folder and stay inside it");
}

std::string normalised_name(std::string_view name) {
  std::string result;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view component = name.substr(begin, end - begin);
    if (!component.empty() && component != ".") {
      if (!result.empty()) result += '/';
      result += component;
    }
    begin = end + 1;
  }
  return result;
}

}  // namespace recon

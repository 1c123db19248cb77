#include "session/report/page.hpp"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "io/map/map_files.hpp"

namespace recon {

namespace {

/// Nothing in the data ends their element.
std::string data_element(const char* kind, const nlohmann::json& data) {
  std::string element = data_mark(kind);
  for (const char c : data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    if (c == '<')
      element += "\\u003c";
    else
      element += c;
  return element + "</script>\n";
}

}  // namespace

std::string web_page(const char* kind, nlohmann::json data, const CloudView& cloud) {
  data["palette"] = base64(preview_colours());
  std::string page = std::string(embedded_page()) + data_element(kind, data);
  if (cloud.size() > 0 && !embedded_cloud_script().empty())
    page.append(data_element("points", cloud_view_json(cloud))).append(embedded_cloud_script());
  return page;
}

std::string data_mark(const char* kind) {
  return fmt::format("<script type=\"application/json\" id={}>", kind);
}

std::string file_address(const std::string& file) {
  constexpr std::string_view kPlain = "/-_.~";
  std::string address;
  for (const char c : file) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 128 && std::isalnum(byte)) || kPlain.find(c) != std::string_view::npos)
      address += c;
    else
      address += fmt::format("%{:02X}", byte);
  }
  return address;
}

}  // namespace recon

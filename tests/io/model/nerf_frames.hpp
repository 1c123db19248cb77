#pragma once

#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/model/nerf_model.hpp"

namespace recon {

inline const std::string kPose =
    "\"transform_matrix\": [[1, 0, 0, 5], [0, 0, -1, 6], [0, 1, 0, 7], [0, 0, 0, 1]]";
inline const std::string kSize = "\"w\": 8, \"h\": 6";

/// The scene of a file that is not there.
inline Scene parse_frames(const std::string& text, const std::filesystem::path& folder = "nowhere") {
  return parse_nerf_model(text, "transforms.json", folder);
}

/// A file with one frame.
inline std::string one_frame(const std::string& file_members, const std::string& frame_members) {
  return "{" + file_members + (file_members.empty() ? "" : ", ") + "\"frames\": [{" + frame_members + "}]}";
}

/// The message for a file with one frame.
inline std::string frame_refusal(const std::string& file_members, const std::string& frame_members) {
  return message_of<InputError>([&] { parse_frames(one_frame(file_members, frame_members)); });
}

}  // namespace recon

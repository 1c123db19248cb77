#include "io/visibility.hpp"

#include "io/byte_reader.hpp"
#include "io/file_bytes.hpp"

namespace recon {

std::vector<std::vector<std::uint32_t>> read_visibility(const std::filesystem::path& path,
                                                        std::size_t point_count, std::size_t view_count) {
  return parse_visibility(read_file(path), path.string(), point_count, view_count);
}

std::vector<std::vector<std::uint32_t>> parse_visibility(std::string_view bytes, const std::string& file,
                                                         std::size_t point_count, std::size_t view_count) {
  ByteReader reader(bytes, file);
  const FilePlace start = reader.place();
  const std::uint64_t count = reader.read_count(sizeof(std::uint32_t), "points");
  if (count != point_count)
    start.fail("the file is about " + std::to_string(count) + " points, but the cloud has " +
               std::to_string(point_count) +
               "; they do not belong together: write both again, or do without it");
  std::vector<std::vector<std::uint32_t>> points_of_view(view_count);
  for (std::uint32_t point = 0; point < count; ++point) {
    const auto views = reader.read<std::uint32_t>("the number of views");
    for (std::uint32_t i = 0; i < views; ++i) {
      const FilePlace place = reader.place();
      const auto view = reader.read<std::uint32_t>("the views of a point");
      if (view >= view_count)
        place.fail("view " + std::to_string(view) + " of a point, but the model has " +
                   std::to_string(view_count) + " views; write both again, or do without this file");
      points_of_view[view].push_back(point);
    }
  }
  reader.expect_end();
  return points_of_view;
}

}  // namespace recon

#include "io/cloud/ply_vertices.hpp"

namespace recon {

namespace {

/// Size of a vertex in bytes.
std::size_t vertex_bytes(const PlyHeader& header, const std::string& file) {
  const FilePlace place{file, FilePlace::Unit::kLine, header.line_count};
  if (header.format == PlyFormat::kAscii || header.elements.empty() ||
      header.elements.front().name != "vertex")
    place.fail("the file is not binary with its vertices first");
  std::size_t bytes = 0;
  for (const PlyProperty& property : header.elements.front().properties) {
    if (property.is_list) place.fail("the vertices have lists");
    bytes += byte_count(property.type);
  }
  if (bytes == 0) place.fail("the vertices have no properties");
  return bytes;
}

}  // namespace

PlyVertices::PlyVertices(const std::filesystem::path& path) : file_(path.string()), stream_(path) {
  while (stream_.window().find("end_header\n") == std::string_view::npos && stream_.extend()) {
  }
  const PlyHeader header = parse_ply_header(stream_.window(), file_);
  bytes_ = vertex_bytes(header, file_);
  header_ = stream_.window().substr(0, stream_.window().size() - header.body.size());
  format_ = header.format;
  element_ = header.elements.front();
  offset_ = header.offset;
  alone_ = header.elements.size() == 1;
  if (count() > (stream_.size() - header_.size()) / bytes_)
    fail("the file is too short for its vertices; it is truncated or corrupt");
}

std::string PlyVertices::header(std::uint64_t count) const {
  std::string header = header_;
  const std::size_t begin = header.find("\nelement ") + 1, end = header.find('\n', begin);
  return header.replace(begin, end - begin, "element vertex " + std::to_string(count));
}

void PlyVertices::read(const InputStream& own, std::uint64_t first, std::uint64_t count,
                       std::string& out) const {
  const std::uint64_t offset = header_.size() + first * bytes_;
  if (!own.read_at(offset, count * bytes_, out))
    FilePlace{file_, FilePlace::Unit::kByte, offset}.fail("the file became shorter while it was read");
}

void PlyVertices::read_every(std::uint64_t step, const InputStream& own, std::uint64_t first,
                             std::uint64_t count, std::string& out) const {
  // Bytes that are copied in the time of a system call.
  constexpr std::uint64_t kBytesPerCall = 1024;
  if (count == 0) return;
  if (step * bytes_ > kBytesPerCall) {
    for (std::uint64_t i = 0; i < count; ++i) read(own, first + i * step, 1, out);
    return;
  }
  std::string all;
  read(own, first, (count - 1) * step + 1, all);
  for (std::uint64_t i = 0; i < count; ++i) out.append(all, i * step * bytes_, bytes_);
}

void PlyVertices::fail(const std::string& message) const {
  FilePlace{file_, FilePlace::Unit::kLine, element_.line}.fail(message);
}

}  // namespace recon

#include "io/file/mapped_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;

/// Bytes of this process that are in memory and belong to files.
std::size_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssFile:")) return std::stoul(line.substr(8)) << 10;
  return 0;
}

Image<float> ramp(int width, int height) {
  Image<float> image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image(x, y) = static_cast<float>(y * width + x);
  return image;
}

std::size_t differences(ImageView<const float> a, const Image<float>& b) {
  std::size_t count = 0;
  for (int y = 0; y < b.height(); ++y)
    for (int x = 0; x < b.width(); ++x) count += a(x, y) != b(x, y);
  return count;
}

TEST(MappedImage, HasThePixelsAndNoName) {
  const TemporaryFolder folder;
  const Image<float> image = ramp(37, 11);
  const MappedImage<float> mapped(folder.path(), image.view());
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_EQ(mapped.view().width, 37);
  EXPECT_EQ(mapped.view().height, 11);
  EXPECT_EQ(differences(mapped.view(), image), 0u);
}

TEST(MappedImage, GivesBackItsMemoryAndIsReadAgain) {
  const TemporaryFolder folder;
  const Image<float> image = ramp(2048, 2048);
  constexpr std::size_t kBytes = std::size_t{2048} * 2048 * sizeof(float);
  const MappedImage<float> mapped(folder.path(), image.view());
  const std::size_t before = resident_file_bytes();
  EXPECT_EQ(differences(mapped.view(), image), 0u);
  EXPECT_GE(resident_file_bytes(), before + kBytes / 4 * 3);
  mapped.drop_pages();
  EXPECT_LE(resident_file_bytes(), before + kBytes / 4);
  EXPECT_EQ(differences(mapped.view(), image), 0u);
}

TEST(MappedFile, SaysWhereItCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of<OutputError>([&] { MappedFile(folder / "missing", "x"); }),
              testing::AllOf(testing::HasSubstr("missing"), testing::HasSubstr("No such file")));
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string message =
      message_of<OutputError>([&] { MappedFile(folder.path(), std::string(1 << 20, 'x')); });
  const std::string empty = message_of<OutputError>([&] { MappedFile(folder.path(), std::size_t{1} << 20); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(message, testing::HasSubstr("file size limit"));
  EXPECT_THAT(empty, testing::HasSubstr("file size limit")) << "before a page is written";
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(MappedFile, IsWrittenInAnyOrderAndWithinItsSize) {
  const TemporaryFolder folder;
  MappedFile file(folder.path(), std::size_t{6});
  file.write(4, "ef");
  file.drop_pages();
  file.write(1, "bc");
  EXPECT_EQ(std::string(static_cast<const char*>(file.data()), 6), std::string("\0bc\0ef", 6));
  EXPECT_ANY_THROW(file.write(5, "fg"));
  EXPECT_ANY_THROW(file.write(7, ""));
  EXPECT_ANY_THROW(MappedFile(folder.path(), "x").write(0, "y"));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace recon

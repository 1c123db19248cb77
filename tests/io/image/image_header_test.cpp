#include "io/image/image_header.hpp"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "io/image/encoded_image.hpp"

namespace recon {
namespace {

TEST(HeaderSize, IsKnownOfEveryFormatBeforeItIsDecoded) {
  const cv::Mat wide(64, 300, CV_8UC3, cv::Scalar(1, 2, 3)), grey(64, 300, CV_8UC1, cv::Scalar(9));
  for (const char* extension :
       {".png", ".jpg", ".tiff", ".bmp", ".ppm", ".pam", ".webp", ".jp2", ".pgm", ".pbm"}) {
    const bool colour = std::string(extension) != ".pgm" && std::string(extension) != ".pbm";
    const auto size = header_size(encoded(extension, colour ? wide : grey));
    ASSERT_TRUE(size) << extension;
    EXPECT_EQ(size->width, 300u) << extension;
    EXPECT_EQ(size->height, 64u) << extension;
  }
  std::vector<std::uint8_t> lossless;
  cv::imencode(".webp", wide, lossless, {cv::IMWRITE_WEBP_QUALITY, 101});
  const auto size = header_size({reinterpret_cast<const char*>(lossless.data()), lossless.size()});
  ASSERT_TRUE(size);
  EXPECT_EQ(size->width, 300u);
  EXPECT_EQ(size->height, 64u);
}

TEST(HeaderSize, OfRareFormsIsKnownToo) {
  using namespace std::string_literals;
  const std::string from_the_top = "BM"s + std::string(12, '\0') + "\x28\0\0\0\x2C\1\0\0\xF9\xFF\xFF\xFF"s;
  const std::string old_bitmap = "BM"s + std::string(12, '\0') + "\x0C\0\0\0\x2C\1\7\0\1\0\x18\0"s;
  const std::string text = "P2 # a comment\n# 5 5\n 300\t7\n255\n";
  const std::string extended = "RIFF\0\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0\x2B\1\0\6\0\0"s;
  const std::string entries =
      "\1\0\0\3\0\0\0\0\0\0\0\1\1\x2C\0\0\0\0\0\0"s
      "\1\1\0\4\0\0\0\0\0\0\0\1\0\0\0\7\0\0\0\0"s;
  const std::string big_tiff = "MM\0+\0\x08\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\2"s + entries;
  for (const std::string& bytes : {from_the_top, old_bitmap, text, extended}) {
    const auto size = header_size(bytes);
    ASSERT_TRUE(size) << bytes;
    EXPECT_EQ(size->width, 300u) << bytes;
    EXPECT_EQ(size->height, 7u) << bytes;
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) header_size(bytes.substr(0, cut));
  }
  EXPECT_FALSE(header_size("P5 300 x7\n"));
  EXPECT_FALSE(header_size("P7\nWIDTH 3\nENDHDR\n"));
  for (std::size_t cut = 0; cut <= big_tiff.size(); ++cut) header_size(big_tiff.substr(0, cut));
  EXPECT_TRUE(header_size(big_tiff));
  EXPECT_EQ(header_size(big_tiff)->width, 300u);
  EXPECT_EQ(header_size(big_tiff)->height, 7u);
}

}  // namespace
}  // namespace recon

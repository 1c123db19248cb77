// Damaged files: what is there of them is what OpenCV reads of whole ones, and nothing is printed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <thread>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/image/encoded_image.hpp"
#include "io/image/image_file.hpp"

namespace recon {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::string_literals;

const std::string kEnd = "\xFF\xD9";

/// A smooth pattern with some noise.
cv::Mat pattern(int type) {
  cv::Mat noise(12, 16, type), image;
  cv::RNG(7).fill(noise, cv::RNG::UNIFORM, 0, CV_MAT_DEPTH(type) == CV_8U ? 256 : 65536);
  cv::resize(noise, image, {203, 117}, 0, 0, cv::INTER_CUBIC);
  return image;
}

std::string encoded_with(const char* extension, const cv::Mat& image, const std::vector<int>& settings) {
  std::vector<std::uint8_t> bytes;
  cv::imencode(extension, image, bytes, settings);
  return {bytes.begin(), bytes.end()};
}

struct Decoded {
  Image<Rgb8> image;  ///< empty: it was refused
  std::string damage, refusal;
};

/// Decodes a file, which must print nothing.
Decoded decode(const std::string& bytes) {
  Decoded decoded;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    decoded.image = decode_image(bytes, "a.img", {}, &decoded.damage);
  } catch (const InputError& error) {
    decoded.refusal = error.what();
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty());
  EXPECT_THAT(testing::internal::GetCapturedStdout(), IsEmpty());
  EXPECT_EQ(decoded.image.empty(), decoded.refusal.starts_with("a.img: ")) << decoded.refusal;
  return decoded;
}

/// The first row from the top in which `image` is not what OpenCV reads of a file; -1: there is none, -2: no
/// image.
int first_difference(const Image<Rgb8>& image, const std::string& whole) {
  const cv::Mat raw(1, static_cast<int>(whole.size()), CV_8UC1, const_cast<char*>(whole.data()));
  const cv::Mat bgr = cv::imdecode(raw, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  EXPECT_EQ(image.width(), bgr.cols);
  EXPECT_EQ(image.height(), bgr.rows);
  if (image.empty()) return -2;
  for (int y = 0; y < bgr.rows; ++y)
    for (int x = 0; x < bgr.cols; ++x)
      if (const auto& [b, g, r] = bgr.at<cv::Vec3b>(y, x).val; !(image(x, y) == Rgb8{r, g, b})) return y;
  return -1;
}

/// JPEG files of several kinds; of the first two it is known from which row on pixels are missing.
std::vector<std::string> jpegs() {
  const cv::Mat colour = pattern(CV_8UC3), grey = pattern(CV_8UC1);
  return {encoded_with(".jpg", colour, {}), encoded_with(".jpg", grey, {cv::IMWRITE_JPEG_QUALITY, 60}),
          encoded_with(".jpg", colour, {cv::IMWRITE_JPEG_RST_INTERVAL, 3}),
          encoded_with(".jpg", colour, {cv::IMWRITE_JPEG_PROGRESSIVE, 1}),
          encoded_with(".jpg", grey, {cv::IMWRITE_JPEG_PROGRESSIVE, 1, cv::IMWRITE_JPEG_RST_INTERVAL, 2})};
}

TEST(DamagedJpeg, WithoutAnEndMarkerIsUsedAsItWouldBeWithIt) {
  for (const std::string& whole : jpegs()) {
    ASSERT_TRUE(whole.ends_with(kEnd));
    const Decoded decoded = decode(whole.substr(0, whole.size() - 2));
    EXPECT_EQ(first_difference(decoded.image, whole), -1);
    EXPECT_THAT(decoded.damage, HasSubstr("lacks its end marker"));
    EXPECT_THAT(decode(whole).damage, IsEmpty());
  }
}

TEST(DamagedJpeg, WithoutPixelsIsRefused) {
  for (const std::string& whole : jpegs())
    for (const double part : {0.2, 0.5, 0.98})
      EXPECT_THAT(
          decode(whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size())))).refusal,
          HasSubstr("truncated"))
          << part;
}

TEST(DamagedJpeg, WithoutPixelsButWithAnEndMarkerIsUsedAndTheRowIsSaid) {
  const std::vector<std::string> all = jpegs();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Decoded decoded = decode(all[i].substr(0, all[i].size() / 2) + kEnd);
    const int row = first_difference(decoded.image, all[i]);
    EXPECT_GE(row, 0);
    EXPECT_THAT(decoded.damage, HasSubstr("the JPEG file is damaged ("));
    if (i >= 2) continue;
    EXPECT_GT(row, 30);
    const std::size_t at = decoded.damage.find("from row ");
    ASSERT_NE(at, std::string::npos) << decoded.damage;
    EXPECT_NEAR(std::stoi(decoded.damage.substr(at + 9)), row, 16) << decoded.damage;
    EXPECT_THAT(decoded.damage, HasSubstr(" of 117 on"));
  }
}

TEST(DamagedJpeg, WithoutItsLastScansIsUsedAndSaid) {
  const std::string whole = jpegs()[3];
  const std::size_t last = whole.rfind("\xFF\xDA"), before = whole.rfind("\xFF\xDA", last - 1);
  for (const std::size_t scan : {last, before}) {
    const Decoded decoded = decode(whole.substr(0, scan) + kEnd);
    EXPECT_GE(first_difference(decoded.image, whole), 0);
    EXPECT_THAT(decoded.damage, HasSubstr("lacks some of its scans"));
    EXPECT_THAT(decode(whole.substr(0, scan)).refusal, HasSubstr("truncated"));
  }
}

TEST(DamagedJpeg, WithBytesBetweenItsMarkersIsWhole) {
  for (const std::string& whole : jpegs()) {
    std::string odd = whole;
    odd.insert(odd.find("\xFF\xC4"), "garbage");
    const Decoded decoded = decode(odd);
    EXPECT_EQ(first_difference(decoded.image, whole), -1);
    EXPECT_EQ(decoded.damage, "");
  }
  std::string noise = jpegs()[2];
  for (std::size_t i = noise.size() / 2; i < noise.size() / 2 + 40; ++i) noise[i] = static_cast<char>(i * 37);
  EXPECT_THAT(decode(noise).damage, AnyOf(HasSubstr("damaged"), HasSubstr("not as it should be")));
}

std::vector<std::string> pngs() {
  std::vector<std::string> all;
  for (const int type : {CV_8UC1, CV_8UC3, CV_8UC4, CV_16UC1, CV_16UC3})
    all.push_back(encoded(".png", pattern(type)));
  return all;
}

TEST(DamagedPng, WithoutPixelsIsRefusedWithTheReason) {
  for (const std::string& whole : pngs()) {
    EXPECT_THAT(decode(whole.substr(0, whole.size() / 2)).refusal,
                AllOf(HasSubstr("PNG file is damaged"), HasSubstr("ends early")));
    std::string changed = whole;
    changed[changed.size() / 2] ^= 0x55;
    EXPECT_THAT(decode(changed).refusal, HasSubstr("PNG file is damaged"));
    std::string checksum = whole;
    checksum[checksum.size() - 14] ^= 0x55;  // of the last chunk of pixels
    EXPECT_THAT(decode(checksum).refusal, HasSubstr("CRC error"));
  }
}

TEST(DamagedPng, WithAllPixelsIsUsed) {
  constexpr std::size_t kEndChunk = 12;
  const std::string whole = pngs()[1];
  for (const std::size_t missing : {std::size_t{1}, kEndChunk}) {
    const Decoded decoded = decode(whole.substr(0, whole.size() - missing));
    EXPECT_EQ(first_difference(decoded.image, whole), -1);
    EXPECT_THAT(decoded.damage, HasSubstr("the PNG file ends early; its pixels are all there"));
  }
  // What is beside the pixels does not matter, such as a colour profile with a wrong checksum.
  std::string profile = whole;
  profile.insert(33, "\0\0\0\4gAMA\0\0\0\1crc!"s);
  EXPECT_THAT(decode(profile).damage, IsEmpty());
  EXPECT_EQ(first_difference(decode(profile).image, whole), -1);
}

TEST(DamagedTiff, IsRefusedWithTheReason) {
  constexpr int kNone = 1, kLzw = 5, kDeflate = 8;
  for (const int type : {CV_8UC1, CV_8UC3, CV_16UC1, CV_16UC3})
    for (const int packing : {kNone, kLzw, kDeflate}) {
      const std::string whole = encoded_with(".tiff", pattern(type), {cv::IMWRITE_TIFF_COMPRESSION, packing});
      EXPECT_THAT(decode(whole).damage, IsEmpty());
      EXPECT_FALSE(decode(whole).image.empty());
      EXPECT_THAT(decode(whole.substr(0, whole.size() / 2)).refusal, HasSubstr("this TIFF cannot be read ("));
      if (packing != kLzw) continue;  // changed bytes of others may be pixels
      std::string changed = whole;
      for (std::size_t i = whole.size() / 3; i < whole.size() / 3 + 200; ++i) changed[i] = '\xFF';
      EXPECT_THAT(decode(changed).refusal, HasSubstr("this TIFF cannot be read (")) << type << " " << packing;
    }
}

/// A little-endian TIFF whose directory of eight tags comes before its one strip of 20 x 20 grey pixels.
std::string plain_tiff(int bits, const std::string& strip, int orientation = 1) {
  std::string bytes = "II*\0\x08\0\0\0"s + "\x09\0"s;
  const auto add = [&](char tag, char type, std::size_t value) {
    bytes +=
        {tag, 1, type, 0, 1, 0, 0, 0, static_cast<char>(value % 256), static_cast<char>(value / 256), 0, 0};
  };
  constexpr std::size_t kBegin = 122;
  add(0, 3, 20), add(1, 3, 20), add(2, 3, static_cast<std::size_t>(bits)), add(3, 3, 1), add(6, 3, 1);
  add(17, 4, kBegin), add(18, 3, static_cast<std::size_t>(orientation)), add(22, 3, 20);
  add(23, 4, static_cast<std::size_t>(20 * 20 * bits / 8));
  bytes += "\0\0\0\0"s;
  EXPECT_EQ(bytes.size(), kBegin);
  return bytes + strip;
}

TEST(DamagedTiff, ThatEndsBeforeItsPixelsIsRefused) {
  for (const int bits : {8, 12, 16}) {
    const std::size_t bytes = 20 * 20 * static_cast<std::size_t>(bits) / 8;
    EXPECT_EQ(decode(plain_tiff(bits, std::string(bytes, '\x77'))).image(19, 19), (Rgb8{0x77, 0x77, 0x77}))
        << bits;
    EXPECT_THAT(decode(plain_tiff(bits, std::string(bytes / 4, '\x77'))).refusal,
                HasSubstr("this TIFF cannot be read ("));
  }
}

TEST(WholeTiff, HasItsPixelsWhereTheyAreStored) {
  std::string strip(400, '\0');
  strip[1] = '\xFF';
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Image<Rgb8> image = decode(plain_tiff(8, strip, orientation)).image;
    EXPECT_EQ(image(1, 0), (Rgb8{255, 255, 255})) << orientation;
    EXPECT_EQ(image(0, 1), (Rgb8{0, 0, 0})) << orientation;
  }
}

TEST(WholeTiff, OfTwelveBitsHasThemAboveFourZeros) {
  std::string strip;
  for (int i = 0; i < 200; ++i) strip += "\x12\x3F\xED"s;
  const StoredGrey grey = decode_stored_grey(plain_tiff(12, strip), "x");
  EXPECT_EQ(grey.of_16_bits(0, 7), 0x1230);
  EXPECT_EQ(grey.of_16_bits(1, 7), 0xFED0);
}

TEST(DamagedWebp, IsRefused) {
  const std::string whole = encoded(".webp", pattern(CV_8UC3));
  EXPECT_EQ(first_difference(decode(whole).image, whole), -1);
  for (const std::size_t size : {std::size_t{14}, std::size_t{40}, whole.size() / 2, whole.size() - 10})
    EXPECT_THAT(decode(whole.substr(0, size)).refusal, HasSubstr("the WebP file is truncated"));
  const std::string animation =
      "RIFF\x24\0\0\0WEBPVP8X\x0A\0\0\0\x02\0\0\0\x07\0\0\x07\0\0ANIM\x06\0\0\0\0\0\0\0\0\0"s;
  EXPECT_THAT(decode(animation).refusal, HasSubstr("is an animation"));
}

TEST(DamagedPlainFiles, AreRefusedWithTheirBytes) {
  const std::pair<const char*, int> kinds[] = {{".bmp", CV_8UC1},  {".bmp", CV_8UC3}, {".ppm", CV_8UC3},
                                               {".ppm", CV_16UC3}, {".pgm", CV_8UC1}, {".pgm", CV_16UC1},
                                               {".pbm", CV_8UC1}};
  for (const auto& [extension, type] : kinds) {
    const std::string whole = encoded(extension, pattern(type));
    EXPECT_FALSE(decode(whole).image.empty()) << extension << " " << type;
    for (const std::size_t size : {whole.size() / 2, whole.size() - 1})
      EXPECT_THAT(
          decode(whole.substr(0, size)).refusal,
          HasSubstr(std::to_string(whole.size()) + " bytes or more, and there are " + std::to_string(size)))
          << extension << " " << type;
  }
}

/// The kinds that OpenCV decodes by itself and, where they are damaged, writes about to std::cerr and its
/// log.
TEST(DamagedRareFiles, PrintNothing) {
  int kinds = 0, refused = 0;
  for (const char* extension :
       {".jp2", ".hdr", ".pic", ".ras", ".sr", ".bmp", ".ppm", ".pam", ".pfm", ".webp"})
    for (const int type : {CV_8UC1, CV_8UC3}) {
      std::string whole;
      try {
        whole = encoded(extension, pattern(type));
      } catch (const cv::Exception&) {
        continue;  // not of this type, or not of this OpenCV
      }
      ++kinds;
      for (int part = 1; part < 16; ++part) {
        const std::size_t at = whole.size() * static_cast<std::size_t>(part) / 16;
        refused += decode(whole.substr(0, at)).refusal.empty() ? 0 : 1;
        for (const std::size_t place : {std::size_t{3} * static_cast<std::size_t>(part), at}) {
          std::string damaged = whole;
          for (std::size_t i = place; i < std::min(place + 24, whole.size()); ++i)
            damaged[i] = static_cast<char>(~damaged[i]);
          refused += decode(damaged).refusal.empty() ? 0 : 1;
        }
      }
    }
  EXPECT_GE(kinds, 10);
  EXPECT_GT(refused, 100);
}

/// What others write to std::cerr meanwhile, and afterwards, stays.
TEST(DamagedRareFiles, LeaveTheTextOfOthersAlone) {
  const std::string whole = encoded(".hdr", pattern(CV_8UC3));
  testing::internal::CaptureStderr();
  std::thread other([] {
    for (int i = 0; i < 100; ++i) std::cerr << "text" << ' ';
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_THROW(decode_image(whole.substr(0, whole.size() / 2), "a.hdr"), InputError);
  other.join();
  std::cerr << "after";
  std::string expected;
  for (int i = 0; i < 100; ++i) expected += "text ";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), expected + "after");
}

TEST(WholeImages, HaveThePixelsThatOpenCvReads) {
  for (const char* extension : {".jpg", ".png", ".tiff", ".bmp", ".ppm", ".webp"})
    for (const int type : {CV_8UC1, CV_8UC3, CV_8UC4}) {
      const bool of_colours = extension == ".jpg"s || extension == ".ppm"s;
      if ((of_colours && type == CV_8UC4) || (extension == ".ppm"s && type == CV_8UC1)) continue;
      const std::string bytes = encoded(extension, pattern(type));
      EXPECT_EQ(first_difference(decode(bytes).image, bytes), -1) << extension << " " << type;
    }
  for (const std::string& bytes : jpegs()) EXPECT_EQ(first_difference(decode(bytes).image, bytes), -1);
}

}  // namespace
}  // namespace recon

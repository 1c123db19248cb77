#include "io/image/image_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "core/error.hpp"
#include "io/error_message.hpp"
#include "io/image/encoded_image.hpp"
#include "io/temporary_folder.hpp"

namespace recon {
namespace {

using testing::HasSubstr;

/// 3x2 pixels written by OpenCV, in BGR(A).
template <class T>
cv::Mat sample(int type) {
  cv::Mat mat(2, 3, type);
  for (int y = 0; y < 2; ++y)
    for (int i = 0; i < 3 * mat.channels(); ++i)
      mat.ptr<T>(y)[i] = static_cast<T>((sizeof(T) == 1 ? 1 : 257) * (100 * y + 7 * i));
  return mat;
}

/// The JPEG with an EXIF segment after its first marker that states "rotated by 90 degrees".
std::string with_exif_rotation(const std::string& jpeg) {
  using namespace std::string_literals;
  const std::string exif =
      "Exif\0\0"s + "II*\0\x08\0\0\0"s + "\x01\0"s + "\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"s + "\0\0\0\0"s;
  const std::string head = "\xFF\xE1\0"s + static_cast<char>(exif.size() + 2);
  return jpeg.substr(0, 2) + head + exif + jpeg.substr(2);
}

TEST(ReadImage, TakesPixelsInRgbAndDropsAlpha) {
  for (const char* extension : {".png", ".tiff"})
    for (const int type : {CV_8UC3, CV_8UC4}) {
      if (type == CV_8UC4 && std::string(extension) == ".tiff") continue;  // OpenCV premultiplies there
      const int step = type == CV_8UC3 ? 21 : 28;
      const Image<Rgb8> image = decode_image(encoded(extension, sample<std::uint8_t>(type)), "x");
      ASSERT_EQ(image.width(), 3);
      ASSERT_EQ(image.height(), 2);
      EXPECT_EQ(image(0, 0), (Rgb8{14, 7, 0})) << extension;
      EXPECT_EQ(image(1, 0), (Rgb8{static_cast<std::uint8_t>(14 + step), static_cast<std::uint8_t>(7 + step),
                                   static_cast<std::uint8_t>(step)}));
      EXPECT_EQ(image(0, 1), (Rgb8{114, 107, 100}));
    }
}

TEST(StoredGrey, KeepsTheDepthOfTheFile) {
  // b, g, r = 0, 7, 14: (299 * 14 + 587 * 7 + 500) / 1000 = 8.8 (includes the rounding half).
  const StoredGrey of_8 = decode_stored_grey(encoded(".png", sample<std::uint8_t>(CV_8UC3)), "x");
  ASSERT_TRUE(of_8.of_16_bits.empty());
  EXPECT_EQ(of_8.of_8_bits(0, 0), 8);
  const StoredGrey of_16 = decode_stored_grey(encoded(".png", sample<std::uint16_t>(CV_16UC3)), "x");
  ASSERT_TRUE(of_16.of_8_bits.empty());
  EXPECT_EQ(of_16.of_16_bits(0, 0), 2132);  // 257 (299 * 14 + 587 * 7) = 2131.8 thousand
  const StoredGrey grey = decode_stored_grey(encoded(".png", sample<std::uint16_t>(CV_16UC1)), "x");
  EXPECT_EQ(grey.of_16_bits(2, 1), 257 * 114);
  EXPECT_EQ(grey.of_16_bits(2, 0), 257 * 14);
}

/// The bytes of hexadecimal digits.
std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

/// A mask of one row as digits: 0 ignored, 1 kept.
std::string kept(const std::string& bytes) {
  const Image<std::uint8_t> mask = decode_mask(bytes, "x");
  std::string row;
  for (int x = 0; x < mask.width(); ++x) row += mask(x, 0) == 0 ? '0' : mask(x, 0) == 255 ? '1' : '?';
  return row;
}

TEST(DecodeMask, IgnoresWhatIsBlackOrTransparentInAnyKindOfPng) {
  const cv::Mat grey = (cv::Mat_<std::uint8_t>(1, 4) << 0, 1, 128, 255);
  EXPECT_EQ(kept(encoded(".png", grey)), "0111");
  const cv::Mat wide = (cv::Mat_<std::uint16_t>(1, 4) << 0, 1, 128, 65535);
  EXPECT_EQ(kept(encoded(".png", wide)), "0111") << "1 of 65535 would be rounded to 0";
  const cv::Mat colour =
      (cv::Mat_<cv::Vec3b>(1, 3) << cv::Vec3b(0, 0, 0), cv::Vec3b(1, 0, 0), cv::Vec3b(0, 0, 1));
  EXPECT_EQ(kept(encoded(".png", colour)), "011") << "the luma of blue 1 would be rounded to 0";
  const cv::Mat alpha =
      (cv::Mat_<cv::Vec4b>(1, 3) << cv::Vec4b(0, 0, 0, 255), cv::Vec4b(9, 9, 9, 0), cv::Vec4b(0, 9, 0, 1));
  EXPECT_EQ(kept(encoded(".png", alpha)), "001");
  // Black, red and blue 1 of a palette; grey 0 and 9, and a transparent 9; bits 0, 1, 1.
  EXPECT_EQ(
      kept(bytes_of("89504e470d0a1a0a0000000d49484452000000030000000108030000002c3ee48600000009504c5445000000"
                    "c8000000000109df458f0000000c4944415478da63606064020000080004081d630a0000000049454e44ae42"
                    "6082")),
      "011");
  EXPECT_EQ(
      kept(bytes_of("89504e470d0a1a0a0000000d4948445200000003000000010804000000b1e9dc3f0000000f4944415478da63"
                    "60f8cff99f93010008350211c6b0f5860000000049454e44ae426082")),
      "010");
  EXPECT_EQ(kept(bytes_of("89504e470d0a1a0a0000000d49484452000000030000000101000000"
                          "00339b29190000000a4944415478da63480000006200611c10037f0000000049454e44ae426082")),
            "011");
}

TEST(DecodeMask, RefusesDamagedFilesByName) {
  const std::string png = encoded(".png", cv::Mat(40, 40, CV_8UC1, cv::Scalar(255)));
  for (const std::string& bytes : {png.substr(0, png.size() / 2), std::string("no image"), std::string()})
    EXPECT_THAT(message_of<InputError>([&] { decode_mask(bytes, "a/mask.png"); }), HasSubstr("a/mask.png: "));
}

TEST(ReadImage, SpreadsGreyAndRounds16Bits) {
  const Image<Rgb8> grey = decode_image(encoded(".png", sample<std::uint8_t>(CV_8UC1)), "x");
  EXPECT_EQ(grey(2, 1), (Rgb8{114, 114, 114}));
  cv::Mat wide(1, 4, CV_16UC1);
  const std::uint16_t values[4] = {0, 128, 129, 65535};  // 128 / 257 = 0.498, 129 / 257 = 0.502
  for (int x = 0; x < 4; ++x) wide.at<std::uint16_t>(0, x) = values[x];
  const Image<Rgb8> image = decode_image(encoded(".png", wide), "x");
  const std::uint8_t expected[4] = {0, 0, 1, 255};
  for (int x = 0; x < 4; ++x) EXPECT_EQ(image(x, 0).g, expected[x]) << x;
  EXPECT_EQ(decode_image(encoded(".tiff", sample<std::uint16_t>(CV_16UC3)), "x")(1, 1),
            (Rgb8{135, 128, 121}));
}

TEST(ReadImage, BrightensByWhatIsWhite) {
  const TemporaryFolder folder;
  cv::Mat deep(1, 4, CV_16UC1);
  const std::uint16_t values[4] = {0, 16, 1020, 5000};
  for (int x = 0; x < 4; ++x) deep.at<std::uint16_t>(0, x) = values[x];
  spill(folder / "deep.png", encoded(".png", deep));
  const Image<Rgb8> image =
      read_image(folder / "deep.png", {4080});  // 16 images of 16 bits count as one of 8
  const std::uint8_t expected[4] = {0, 1, 64, 255};
  for (int x = 0; x < 4; ++x) EXPECT_EQ(image(x, 0).r, expected[x]) << x;
  spill(folder / "flat.png", encoded(".png", cv::Mat(1, 1, CV_8UC1, cv::Scalar(4))));
  EXPECT_EQ(read_image(folder / "flat.png", {4080})(0, 0), (Rgb8{4, 4, 4})) << "8 bits stay as they are";
  const Image<Rgb8> spread = read_image(folder / "deep.png", {1020, 16});
  EXPECT_EQ(spread(0, 0).r, 0) << "below black";
  EXPECT_EQ(spread(1, 0).r, 0);
  EXPECT_EQ(spread(2, 0).r, 255);
}

TEST(SampleLevels, AreThoseOfTheFewestBits) {
  for (std::uint32_t bits = 8; bits <= 16; ++bits) {
    const std::uint32_t white = (1u << bits) - 1;
    for (const std::uint32_t max : {white, white - white / 3})
      EXPECT_EQ(levels_of({0, max, false}), (SampleLevels{white, 0})) << bits << " bits, " << max;
  }
  EXPECT_EQ(levels_of({0, 3, false}), (SampleLevels{255, 0})) << "fewer than 8 bits are dark photos";
  EXPECT_EQ(levels_of({}), SampleLevels{}) << "of 8-bit photos";
  EXPECT_EQ(levels_of({0, 0, true}), SampleLevels{}) << "of black ones";
  EXPECT_EQ(levels_of({7000, 8020, true}), (SampleLevels{8020, 7000})) << "of a thermal camera";
  EXPECT_EQ(levels_of({7000, 8020, false}), (SampleLevels{8191, 0})) << "colours would change";
  EXPECT_EQ(levels_of({900, 8020, true}), (SampleLevels{8191, 0}));
  EXPECT_EQ(levels_of({500, 500, true}), (SampleLevels{511, 0}));
}

/// A pixel that is transparent and one of alpha 1 beside opaque ones, in 8 or 16 bits.
template <class T>
cv::Mat with_alpha(const std::vector<T>& alpha) {
  cv::Mat mat(1, static_cast<int>(alpha.size()), sizeof(T) == 1 ? CV_8UC4 : CV_16UC4);
  for (std::size_t x = 0; x < alpha.size(); ++x)
    for (int c = 0; c < 4; ++c)
      mat.ptr<T>(0)[4 * x + static_cast<std::size_t>(c)] = c == 3 ? alpha[x] : T{100};
  return mat;
}

/// The mask of a photo as digits; empty: it has none.
std::string mask_of_photo(const std::string& bytes) {
  const Image<std::uint8_t> mask = inspect_photo(bytes, "x").mask;
  const Image<std::uint8_t> again = decode_mask(bytes, "x", MaskKind::kTransparent);
  for (int x = 0; x < mask.width(); ++x) EXPECT_EQ(again(x, 0), mask(x, 0)) << x;
  std::string row;
  for (int x = 0; x < mask.width(); ++x) row += mask(x, 0) == 0 ? '0' : '1';
  return row;
}

TEST(InspectPhoto, TransparentPixelsAreItsMask) {
  for (const char* extension : {".png", ".tiff"}) {
    EXPECT_EQ(mask_of_photo(encoded(extension, with_alpha<std::uint8_t>({0, 1, 254, 255}))), "0111")
        << extension;
    EXPECT_EQ(mask_of_photo(encoded(extension, with_alpha<std::uint16_t>({0, 1, 255, 65535}))), "0111")
        << extension;
    const std::string opaque = encoded(extension, with_alpha<std::uint8_t>({255, 255}));
    EXPECT_EQ(mask_of_photo(opaque), "") << extension;
    EXPECT_FALSE(inspect_photo(opaque, "x").all_transparent);
    const std::string faint = encoded(extension, with_alpha<std::uint8_t>({1, 1}));
    EXPECT_EQ(mask_of_photo(faint), "") << extension;
    const std::string nothing = encoded(extension, with_alpha<std::uint8_t>({0, 0}));
    EXPECT_EQ(mask_of_photo(nothing), "") << "an alpha channel that nobody filled";
    EXPECT_TRUE(inspect_photo(nothing, "x").all_transparent);
  }
  // Grey 0 and 9, and a transparent 9; then red, green and blue of a palette, of which green is transparent.
  EXPECT_EQ(mask_of_photo(bytes_of(
                "89504e470d0a1a0a0000000d4948445200000003000000010804000000b1e9dc3f0000000f4944415478da63"
                "60f8cff99f93010008350211c6b0f5860000000049454e44ae426082")),
            "110");
  EXPECT_EQ(mask_of_photo(bytes_of(
                "89504e470d0a1a0a0000000d49484452000000030000000108030000002c3ee48600000009504c5445c80000"
                "00c8000000c8cca6a1080000000374524e53ff00ff69ec1fbe0000000c49444154789c636060640200000800"
                "0436e0b0a60000000049454e44ae426082")),
            "101");
  // Grey and colours of which one is said to be transparent.
  EXPECT_EQ(mask_of_photo(bytes_of(
                "89504e470d0a1a0a0000000d49484452000000030000000108000000003e8b4b680000000274524e5300090f"
                "4f759c0000000c49444154789c6360e03c010000de00d215c1de610000000049454e44ae426082")),
            "101");
  EXPECT_EQ(mask_of_photo(bytes_of(
                "89504e470d0a1a0a0000000d4948445200000003000000010802000000948283e30000000674524e53000900"
                "080007f3c1a1fb0000001249444154789c63606060e0e4603fc1c0000002dc00e1875c27f10000000049454e"
                "44ae426082")),
            "101");
}

TEST(InspectPhoto, SaysWhatSixteenBitsHold) {
  const SampleRange colour = inspect_photo(encoded(".png", sample<std::uint16_t>(CV_16UC3)), "x").range;
  EXPECT_EQ(colour.min, 0u);
  EXPECT_EQ(colour.max, 257u * 156);
  EXPECT_FALSE(colour.grey);
  const SampleRange grey =
      inspect_photo(encoded(".tiff", cv::Mat(2, 2, CV_16UC1, cv::Scalar(7000))), "x").range;
  EXPECT_EQ(grey.min, 7000u);
  EXPECT_EQ(grey.max, 7000u);
  EXPECT_TRUE(grey.grey);
  const SampleRange beside_alpha =
      inspect_photo(encoded(".png", with_alpha<std::uint16_t>({65535, 0})), "x").range;
  EXPECT_EQ(beside_alpha.max, 100u);
  EXPECT_TRUE(inspect_photo(encoded(".png", sample<std::uint8_t>(CV_8UC3)), "x").range.empty());
}

TEST(HasPlainSamples, OfEightBitsWithoutTransparency) {
  for (const char* extension : {".png", ".tiff", ".jpg", ".ppm", ".bmp"})
    EXPECT_TRUE(has_plain_samples(encoded(extension, sample<std::uint8_t>(CV_8UC3)))) << extension;
  for (const char* extension : {".png", ".tiff", ".ppm"})
    EXPECT_FALSE(has_plain_samples(encoded(extension, sample<std::uint16_t>(CV_16UC3)))) << extension;
  for (const char* extension : {".png", ".tiff"}) {
    EXPECT_TRUE(has_plain_samples(encoded(extension, sample<std::uint8_t>(CV_8UC1)))) << extension;
    EXPECT_FALSE(has_plain_samples(encoded(extension, sample<std::uint8_t>(CV_8UC4)))) << extension;
    EXPECT_FALSE(has_plain_samples(encoded(extension, sample<std::uint16_t>(CV_16UC1)))) << extension;
  }
  EXPECT_TRUE(has_plain_samples(encoded(".pgm", sample<std::uint8_t>(CV_8UC1))));
  EXPECT_FALSE(has_plain_samples(encoded(".webp", sample<std::uint8_t>(CV_8UC4))));
  EXPECT_FALSE(has_plain_samples("P5\n# 12 bits\n3 1\n4095\n......"));
  for (const std::string& bytes :
       {std::string(), std::string("P6"), std::string("BM"), std::string("\x89PNG\r\n\x1A\n")})
    EXPECT_FALSE(has_plain_samples(bytes));
}

TEST(ExifOrientation, IsFoundInEveryKindOfFile) {
  const std::string jpeg = encoded(".jpg", sample<std::uint8_t>(CV_8UC3));
  EXPECT_EQ(exif_orientation(jpeg), 1);
  EXPECT_EQ(exif_orientation(with_exif_rotation(jpeg)), 6);
  std::string tiff = encoded(".tiff", sample<std::uint8_t>(CV_8UC3));
  EXPECT_EQ(exif_orientation(tiff), 1);
  using namespace std::string_literals;
  const std::string exif =
      "II*\0\x08\0\0\0"s + "\x01\0"s + "\x12\x01\x03\0\x01\0\0\0\x08\0\0\0"s + "\0\0\0\0"s;
  EXPECT_EQ(exif_orientation(exif), 8);
  std::string png = encoded(".png", sample<std::uint8_t>(CV_8UC3));
  EXPECT_EQ(exif_orientation(png), 1);
  png.insert(33, "\0\0\0"s + static_cast<char>(exif.size()) + "eXIf" + exif + "crc!");
  EXPECT_EQ(exif_orientation(png), 8);
  EXPECT_EQ(exif_orientation(""), 1);
  EXPECT_EQ(exif_orientation(with_exif_rotation(jpeg).substr(0, 20)), 1);
}

TEST(DecodeMask, OfInstantNgpIgnoresWhatIsNotBlack) {
  const cv::Mat grey = (cv::Mat_<std::uint16_t>(1, 4) << 0, 1, 128, 65535);
  const Image<std::uint8_t> mask = decode_mask(encoded(".png", grey), "x", MaskKind::kNotBlack);
  for (int x = 0; x < 4; ++x) EXPECT_EQ(mask(x, 0), x == 0 ? 255 : 0) << x;
}

TEST(ReadImage, LeavesTheStoredPixelsWhereTheyAre) {
  const TemporaryFolder folder;
  spill(folder / "a.jpg", with_exif_rotation(encoded(".jpg", sample<std::uint8_t>(CV_8UC3))));
  ASSERT_EQ(cv::imread((folder / "a.jpg").string()).cols, 2)
      << "the block should turn the image for other readers";
  EXPECT_EQ(read_image(folder / "a.jpg").width(), 3);
  EXPECT_EQ(image_size(folder / "a.jpg"), (ImageSize{3, 2}));
}

TEST(ReadImage, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto reading = [&](const std::string& bytes) {
    spill(folder / "a.img", bytes);
    return message_of<InputError>([&] { read_image(folder / "a.img"); });
  };
  const std::string path = (folder / "a.img").string();
  EXPECT_THAT(message_of<InputError>([&] { read_image(folder / "absent.png"); }),
              HasSubstr("absent.png: cannot be read: No such file"));
  EXPECT_THAT(message_of<InputError>([&] { read_image(folder.path()); }), HasSubstr("is a folder"));
  EXPECT_THAT(reading(""), testing::StartsWith(path + ": the image file is empty"));
  EXPECT_THAT(reading("no image"), HasSubstr("no image that can be read"));
  std::string png = encoded(".png", cv::Mat(64, 64, CV_8UC3, cv::Scalar(1, 2, 3)));
  EXPECT_THAT(reading(png.substr(0, png.size() / 2)), HasSubstr("damaged"));
  png.replace(16, 4, std::string("\x7F\xFF\xFF\xFF", 4));
  EXPECT_THAT(reading(png), HasSubstr("2147483647x64"));
  EXPECT_THAT(reading(encoded(".tiff", cv::Mat(2, 2, CV_32FC3, cv::Scalar(1, 1, 1)))),
              HasSubstr("no integers of 8 or 16 bits (such as floats)"));
  EXPECT_THAT(reading(encoded(".tiff", cv::Mat(2, 2, CV_32FC1, cv::Scalar(1)))),
              HasSubstr("no integers of 8 or 16 bits (such as floats)"));
}

TEST(ReadImage, GreyIsTheWeightedMean) {
  const TemporaryFolder folder;
  cv::imwrite((folder / "a.png").string(), cv::Mat(1, 1, CV_8UC3, cv::Scalar(30, 20, 10)));
  EXPECT_EQ(read_grey_image(folder / "a.png")(0, 0), 18);  // 0.299 * 10 + 0.587 * 20 + 0.114 * 30 = 18.15
}

TEST(ImageSize, ComesFromTheHeaderOfEachFormat) {
  const TemporaryFolder folder;
  for (const char* name : {"a.png", "a.jpg", "a.tiff", "a.bmp"}) {
    ASSERT_TRUE(cv::imwrite((folder / name).string(), cv::Mat(45, 123, CV_8UC3, cv::Scalar(9, 9, 9))));
    EXPECT_EQ(image_size(folder / name), (ImageSize{123, 45})) << name;
  }
  spill(folder / "cut.png", slurp(folder / "a.png").substr(0, 33));
  EXPECT_EQ(image_size(folder / "cut.png"), (ImageSize{123, 45}));
  EXPECT_THAT(message_of<InputError>([&] { image_size(folder / "absent.png"); }), HasSubstr("No such file"));
}

TEST(FindImage, KnowsTheExtensionsThatCamerasAndScannersWrite) {
  const TemporaryFolder folder;
  EXPECT_EQ(find_image(folder.path(), "a"), "");
  for (const char* extension : {".BMP", ".bmp", ".PGM", ".PPM", ".TIFF", ".TIF", ".JPEG", ".pgm", ".ppm",
                                ".tiff", ".tif", ".JPG", ".jpeg", ".jpg", ".PNG", ".png"}) {
    const std::filesystem::path file = folder / (std::string("a") + extension);
    spill(file, "");
    EXPECT_EQ(find_image(folder.path(), "a"), file);
    std::filesystem::remove(file);
  }
}

TEST(WriteImage, IsReadBackByOpenCv) {
  const TemporaryFolder folder;
  Image<Rgb8> image(70, 3, Rgb8{10, 20, 30});
  image(69, 2) = {200, 100, 50};
  write_image(folder / "sub/a.PNG", image.view());
  const cv::Mat read = cv::imread((folder / "sub/a.PNG").string(), cv::IMREAD_UNCHANGED);
  ASSERT_EQ(read.type(), CV_8UC3);
  EXPECT_EQ(read.at<cv::Vec3b>(2, 69), (cv::Vec3b{50, 100, 200}));
  EXPECT_EQ(read.at<cv::Vec3b>(0, 68), (cv::Vec3b{30, 20, 10}));
  write_image(folder / "a.jpg", image.view());
  EXPECT_EQ(cv::imread((folder / "a.jpg").string()).cols, 70);
  EXPECT_THAT(message_of<UsageError>([&] { write_image(folder / "a.gif", image.view()); }),
              HasSubstr(".gif"));
}

TEST(WriteImage, NamesTheLongestSideOfAJpeg) {
  const TemporaryFolder folder;
  const Image<Rgb8> image(65501, 1, Rgb8{1, 2, 3});
  EXPECT_THAT(message_of<OutputError>([&] { write_image(folder / "long.jpg", image.view()); }),
              testing::AllOf(HasSubstr("long.jpg"), HasSubstr("65501 x 1"), HasSubstr("65500")));
  EXPECT_NO_THROW(write_image(folder / "long.png", image.view()));
}

TEST(Png16, KeepsEveryValue) {
  const TemporaryFolder folder;
  Image<std::uint16_t> depth(300, 219);
  for (int y = 0; y < depth.height(); ++y)
    for (int x = 0; x < depth.width(); ++x) depth(x, y) = static_cast<std::uint16_t>(y * 300 + x);
  write_png16(folder / "d.png", depth.view());
  const Image<std::uint16_t> back = read_png16(folder / "d.png");
  const cv::Mat other = cv::imread((folder / "d.png").string(), cv::IMREAD_UNCHANGED);
  ASSERT_EQ(other.type(), CV_16UC1);
  for (int y = 0; y < depth.height(); ++y)
    for (int x = 0; x < depth.width(); ++x) {
      ASSERT_EQ(back(x, y), depth(x, y));
      ASSERT_EQ(other.at<std::uint16_t>(y, x), depth(x, y));
    }
  write_image(folder / "c.png", Image<Rgb8>(2, 2, Rgb8{1, 2, 3}).view());
  EXPECT_THAT(message_of<InputError>([&] { read_png16(folder / "c.png"); }),
              HasSubstr("16-bit grey PNG is needed"));
}

}  // namespace
}  // namespace recon

#include "cli/pair_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "io/image/image_file.hpp"
#include "io/map/map_files.hpp"

namespace recon {

namespace {

/// Grey of a place in an endless texture: noise of two sizes, so that windows tell places apart.
std::uint8_t texture(int x, int y) {
  const auto noise = [](int a, int b) {
    std::uint32_t h =
        static_cast<std::uint32_t>(a) * 0x9e3779b1u ^ static_cast<std::uint32_t>(b) * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    return static_cast<int>((h ^ (h >> 13)) & 127u);
  };
  return static_cast<std::uint8_t>(noise(x, y) + noise((x + 4096) / 3, (y + 4096) / 3));
}

}  // namespace

TexturePair texture_pair(int width, int height, int disparity) {
  TexturePair pair{Image<std::uint8_t>(width, height), Image<std::uint8_t>(width, height)};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      pair.left(x, y) = texture(x, y);
      pair.right(x, y) = texture(x + disparity, y);
    }
  return pair;
}

PairTest::PairTest() {
  std::string name = (fs::temp_directory_path() / "reconstruct_pair_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
}

PairTest::~PairTest() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

void PairTest::write_images(int width, int height, int shift) const {
  const TexturePair pair = texture_pair(width, height, shift);
  write_image(file("left.png"), pair.left.view());
  write_image(file("right.png"), pair.right.view());
}

void PairTest::write_pair_folder(const std::string& name, const std::string& more_calibration) const {
  const TexturePair pair = texture_pair(kWidth, kHeight, kShift);
  write_image(folder_ / name / "im0.png", pair.left.view());
  write_image(folder_ / name / "im1.png", pair.right.view());
  set_content(folder_ / name / "calib.txt",
              "cam0=[100 0 59.5; 0 100 39.5; 0 0 1]\ncam1=[100 0 63.5; 0 100 39.5; 0 0 1]\ndoffs=4\n"
              "baseline=2\nwidth=120\nheight=80\n" +
                  more_calibration);
}

std::vector<std::string> PairTest::command(const std::vector<std::string>& arguments) const {
  const auto given = [&](const char* option) {
    return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
  };
  std::vector<std::string> words = {"/usr/bin/env", "-C", folder_.string(), RECON_RECONSTRUCT};
  if (!given("--device")) words.insert(words.end(), {"--device", "cpu"});
  if (!given("--method") && !given("--preset")) words.insert(words.end(), {"--method", "bm"});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Outcome PairTest::reconstruct(const std::vector<std::string>& arguments) const {
  return run_program(folder_, command(arguments));
}

Outcome PairTest::match(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = {"left.png", "right.png"};
  if (std::find(arguments.begin(), arguments.end(), "--max-disparity") == arguments.end())
    words.insert(words.end(), {"--max-disparity", "16"});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return reconstruct(words);
}

PairTest::Known PairTest::known_of(const fs::path& pfm) {
  const Image<float> map = read_pfm(pfm);
  std::vector<float> values;
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x)
      if (!std::isnan(map(x, y))) values.push_back(map(x, y));
  Known known;
  known.share = static_cast<double>(values.size()) / (static_cast<double>(map.width()) * map.height());
  if (values.empty()) return known;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  known.median = values[values.size() / 2];
  return known;
}

}  // namespace recon

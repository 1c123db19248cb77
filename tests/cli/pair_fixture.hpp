#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_program.hpp"
#include "core/image.hpp"

namespace recon {

/// A pair of random texture: the right image is the left one moved by `disparity` to the left, with new
/// texture where it uncovers something.
struct TexturePair {
  Image<std::uint8_t> left, right;
};
TexturePair texture_pair(int width, int height, int disparity);

/// Gives each test a folder of its own, for rectified pairs.
class PairTest : public testing::Test {
 protected:
  static constexpr int kWidth = 120, kHeight = 80, kShift = 6;

  PairTest();
  ~PairTest() override;

  const fs::path& folder() const { return folder_; }
  fs::path file(const std::string& name) const { return folder_ / name; }

  /// Writes left.png and right.png, grey, of disparity `shift`.
  void write_images(int width = kWidth, int height = kHeight, int shift = kShift) const;

  /// Writes a folder with im0.png, im1.png and calib.txt: f 100, baseline 2, doffs 4.
  void write_pair_folder(const std::string& name, const std::string& more_calibration = "ndisp=16\n") const;

  /// `reconstruct` on the CPU by block matching, unless the arguments say otherwise, in `folder()`.
  std::vector<std::string> command(const std::vector<std::string>& arguments) const;
  Outcome reconstruct(const std::vector<std::string>& arguments) const;

  /// The same with left.png and right.png and disparities below 16, into dense/.
  Outcome match(const std::vector<std::string>& arguments) const;

  /// Median and share of the known disparities of a result.
  struct Known {
    double share = 0;
    float median = 0;
  };
  static Known known_of(const fs::path& pfm);

 private:
  fs::path folder_;
};

}  // namespace recon

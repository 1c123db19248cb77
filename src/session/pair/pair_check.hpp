#pragma once

#include <optional>
#include <string>

#include "methods/stereo/pair.hpp"
#include "session/pair/pair_input.hpp"

namespace recon {

/// What places of the left image say about a pair: each is looked for in the right one, also beside its row
/// and beyond the disparities that are searched.
struct PairFindings {
  bool same = false;     ///< one image was given twice
  bool textured = true;  ///< both images have places that differ from what is beside them
  int tried = 0;         ///< places
  int found = 0;         ///< of these, those that are found again somewhere

  /// How much lower rows are in the right image, pixels: the median of the places, and the difference between
  /// its left and its right side; nothing where too few places are found.
  struct Rows {
    double offset = 0;
    double across = 0;
    int places = 0;
  };
  std::optional<Rows> rows;

  int in_row = 0;     ///< places that are found in their own row, at any disparity
  int below_min = 0;  ///< of these, at disparities below those that are searched
  int above_max = 0;  ///< of these, at disparities above
  /// Of these places, the disparities that nine of ten do not go beyond.
  int least = 0, greatest = 0;
};

/// Looks for at most 432 places of most contrast, by ZNCC of windows; much cheaper than any method.
/// Deterministic.
PairFindings check_pair(const GreyPair& images, DisparityRange range);

/// That hardly anything is found again, for people; empty when enough is.
std::string scene_warning(const PairFindings& findings);

/// That the rows of the images do not correspond, for people; empty when they do.
std::string rows_warning(const PairFindings& findings, int width);

/// That the disparities that are searched leave much of the scene out, for people; empty when they do not.
std::string range_warning(const PairFindings& findings, DisparityRange range);

/// Of the pixels, those in --roi.
double searched_share(const PairPlan& plan);

/// Why a pair may have hardly any disparity, for people.
std::string doubts(const PairPlan& plan);

}  // namespace recon

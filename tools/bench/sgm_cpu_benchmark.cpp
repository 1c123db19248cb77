#include "tools/bench/sgm_cpu_benchmark.hpp"

#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "match/transformed_image.hpp"
#include "methods/stereo/pair.hpp"
#include "refine/depth_filters.hpp"
#include "tools/bench/json.hpp"
#include "tools/bench/opencv_stereo.hpp"

namespace recon {
namespace {

using nlohmann::ordered_json;

std::vector<double> quotients(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] / b[i]);
  return result;
}

void match(PairProblem problem, bool median) {
  problem.options.semi_global.median = median;
  semi_global_matching(problem);
}

}  // namespace

ordered_json time_sgm_on_cpu(const PairProblem& problem, int repeats, int threads) {
  const GreyPair& images = problem.images;
  const SemiGlobalPairOptions& options = problem.options.semi_global;
  ThreadLimit limit(threads);
  const int disparities = problem.options.range.count;
  OpenCvStereo opencv_eight(disparities, OpenCvPaths::kEight, limit.threads());
  OpenCvStereo opencv_three(disparities, OpenCvPaths::kThree, limit.threads());
  std::vector<double> ours, transform, without_median, eight, three;
  for (int i = -1; i < repeats; ++i) {
    const double whole = limit.run([&] { return milliseconds([&] { match(problem, options.median); }); });
    const double hh = milliseconds([&] { opencv_eight.match(images.left, images.right); });
    const double before = limit.run([&] { return milliseconds([&] { match(problem, false); }); });
    const double quick = milliseconds([&] { opencv_three.match(images.left, images.right); });
    const double transforms = limit.run([&] {
      return milliseconds([&] {
        TransformedImage(images.left, options.transform, false);
        TransformedImage(images.right, options.transform, true);
      });
    });
    if (i < 0) continue;  // the first round warms up
    ours.push_back(whole), eight.push_back(hh), three.push_back(quick);
    without_median.push_back(before), transform.push_back(transforms);
  }
  std::vector<double> paths, median;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    paths.push_back(without_median[i] - transform[i]);
    median.push_back(ours[i] - without_median[i]);
  }
  const double cells =
      static_cast<double>(images.left.width) * images.left.height * problem.options.range.count;
  return {{"threads", limit.threads()},
          {"whole_ms", to_json(ours)},
          {"ns_per_pixel_and_disparity", 1e6 * spread_of(ours).median / cells},
          {"bytes", semi_global_matching_bytes(images.left.width, images.left.height, problem.options,
                                               limit.threads())},
          {"stages_ms",
           {{"transform", to_json(transform)},
            {"paths_sums_winners_and_checks", to_json(paths)},
            {"median", to_json(median)}}},
          {"opencv_hh_ms", to_json(eight)},
          {"opencv_3way_ms", to_json(three)},
          {"ratio_to_opencv_hh", to_json(quotients(eight, ours))},
          {"ratio_to_opencv_3way", to_json(quotients(three, ours))}};
}

}  // namespace recon

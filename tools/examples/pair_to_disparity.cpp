// A rectified pair to disparities: pair_to_disparity LEFT RIGHT MAX_DISPARITY OUT.png
// OUT.png has 16 bits, round(256 d), 0 where the disparity is unknown.

#include <cmath>
#include <iostream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <reconstruct/stereo.hpp>

int main(int argc, char** argv) {
  if (argc != 5) return std::cerr << "pair_to_disparity LEFT RIGHT MAX_DISPARITY OUT.png\n", 2;
  cv::Mat images[2];
  for (int i : {0, 1}) {
    images[i] = cv::imread(argv[1 + i]);
    if (images[i].empty()) return std::cerr << argv[1 + i] << " is no image\n", 3;
    cv::cvtColor(images[i], images[i], cv::COLOR_BGR2RGB);
  }
  const auto view = [](const cv::Mat& image) {
    return reconstruct::ImageView{image.data, image.cols, image.rows, static_cast<std::ptrdiff_t>(image.step),
                                  reconstruct::PixelType::kRgb8};
  };
  try {
    const reconstruct::Device device;
    const auto [disparity, filled] =
        reconstruct::match(device, view(images[0]), view(images[1]), {{"max-disparity", argv[3]}});
    cv::Mat out(disparity.height, disparity.width, CV_16U);
    for (int y = 0; y < out.rows; ++y)
      for (int x = 0; x < out.cols; ++x) {
        const float d = disparity(x, y);
        out.at<std::uint16_t>(y, x) = d > 0 ? static_cast<std::uint16_t>(std::lround(256 * d)) : 0;
      }
    return cv::imwrite(argv[4], out) ? 0 : 1;
  } catch (const reconstruct::Error& error) {
    return std::cerr << error.what() << "\n", error.exit_code();
  }
}

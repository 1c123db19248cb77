// A rectified pair to disparities: pair_to_disparity LEFT RIGHT MAX_DISPARITY OUT.pfm

#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <reconstruct/stereo.hpp>

int main(int argc, char** argv) {
  if (argc != 5) return std::cerr << "pair_to_disparity LEFT RIGHT MAX_DISPARITY OUT.pfm\n", 2;
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
    std::ofstream out(argv[4], std::ios::binary);
    out << "Pf\n" << disparity.width << " " << disparity.height << "\n-1\n";
    for (int y = disparity.height - 1; y >= 0; --y)  // from the last row
      for (int x = 0; x < disparity.width; ++x) {
        float d = disparity(x, y);
        if (std::isnan(d)) d = std::numeric_limits<float>::infinity();
        out.write(reinterpret_cast<const char*>(&d), sizeof d);
      }
    return out.good() ? 0 : 1;
  } catch (const reconstruct::Error& error) {
    return std::cerr << error.what() << "\n", error.exit_code();
  }
}

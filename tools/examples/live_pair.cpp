// Pairs in the memory of a GPU, as a live camera has them: live_pair LEFT RIGHT MAX_DISPARITY OUT.tiff
// Needs OpenCV with CUDA to run; the images stand for those of a camera, which come again and again.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <opencv2/core/cuda.hpp>
#include <opencv2/imgcodecs.hpp>
#include <reconstruct/matcher.hpp>

namespace {

reconstruct::DeviceImage image_of(const cv::cuda::GpuMat& mat) {
  return {mat.data, mat.cols, mat.rows, static_cast<std::ptrdiff_t>(mat.step),
          reconstruct::PixelType::kGrey8};
}

reconstruct::DeviceMapView map_of(cv::cuda::GpuMat& mat) {
  return {mat.ptr<float>(), mat.cols, mat.rows, static_cast<std::ptrdiff_t>(mat.step)};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::cerr << "live_pair LEFT RIGHT MAX_DISPARITY OUT.tiff\n", 2;
  cv::Mat host[2];
  for (int i : {0, 1}) {
    host[i] = cv::imread(argv[1 + i], cv::IMREAD_GRAYSCALE);
    if (host[i].empty()) return std::cerr << argv[1 + i] << " is no image\n", 3;
  }
  try {
    cv::cuda::Stream stream;
    cv::cuda::GpuMat left, right, disparity(host[0].size(), CV_32F);
    left.upload(host[0], stream);
    right.upload(host[1], stream);

    // Once, for all pairs of this size.
    const reconstruct::Matcher matcher(reconstruct::Device({.device = "cuda"}), left.cols, left.rows,
                                       reconstruct::PixelType::kGrey8, {{"max-disparity", argv[3]}});
    double least = 1e9;
    for (int frame = 0; frame < 100; ++frame) {
      const auto start = std::chrono::steady_clock::now();
      matcher.match(image_of(left), image_of(right), map_of(disparity), stream.cudaPtr());
      stream.waitForCompletion();  // kernels of the same stream need not wait
      const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
      least = std::min(least, taken.count());
    }
    std::cout << least << " ms\n";
    cv::Mat result;
    disparity.download(result);
    return cv::imwrite(argv[4], result) ? 0 : 1;
  } catch (const reconstruct::Error& error) {
    return std::cerr << error.what() << "\n", error.exit_code();
  } catch (const cv::Exception& error) {  // of an OpenCV without CUDA, too
    return std::cerr << error.what() << "\n", 1;
  }
}

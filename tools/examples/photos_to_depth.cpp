// Photos and poses of one's own to a depth map: photos_to_depth OUT.pfm VIEW VIEW..., where VIEW is a text
// file:
//     PHOTO FX FY CX CY QW QX QY QZ TX TY TZ
// an undistorted photo, its camera, and its pose with a unit quaternion, as in COLMAP's images.txt.
// The depth is of the first view; unknown is 0.

#include <algorithm>
#include <fstream>
#include <iostream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <reconstruct/sweep.hpp>

/// The pixels stay in `photo`.
reconstruct::View read_view(const char* file, cv::Mat& photo) {
  std::ifstream text(file);
  std::string name;
  reconstruct::View view;
  reconstruct::Camera& camera = view.camera;
  text >> name >> camera.fx >> camera.fy >> camera.cx >> camera.cy;
  double w = 0, x = 0, y = 0, z = 0;
  text >> w >> x >> y >> z;
  const double rotation[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                                 {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                                 {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  std::copy_n(&rotation[0][0], 9, &view.cam_from_world.rotation[0][0]);
  for (double& number : view.cam_from_world.translation) text >> number;
  photo = cv::imread(name);
  if (!text || photo.empty())
    throw reconstruct::InputError(std::string(file) + ": is no view, or has no photo");
  cv::cvtColor(photo, photo, cv::COLOR_BGR2RGB);
  view.image = {photo.data, photo.cols, photo.rows, static_cast<std::ptrdiff_t>(photo.step),
                reconstruct::PixelType::kRgb8};
  return view;
}

int main(int argc, char** argv) {
  try {
    std::vector<cv::Mat> photos(static_cast<std::size_t>(argc));
    std::vector<reconstruct::View> views;
    for (int i = 2; i < argc; ++i) views.push_back(read_view(argv[i], photos[static_cast<std::size_t>(i)]));
    if (views.size() < 2) return std::cerr << "photos_to_depth OUT.pfm VIEW VIEW...\n", 2;
    const reconstruct::Device device;
    const auto maps = reconstruct::sweep(device, views.front(), {views.begin() + 1, views.end()});
    cv::Mat depth(maps.depth.height, maps.depth.width, CV_32F, maps.depth.data.get(),
                  static_cast<std::size_t>(maps.depth.pitch));
    depth = depth.clone();
    cv::patchNaNs(depth, 0);
    return cv::imwrite(argv[1], depth) ? 0 : 1;
  } catch (const reconstruct::Error& error) {
    return std::cerr << error.what() << "\n", error.exit_code();
  }
}

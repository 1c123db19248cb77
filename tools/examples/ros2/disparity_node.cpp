// A ROS 2 node: rectified stereo images to disparities, in place of stereo_image_proc's disparity_node.
//     ros2 run reconstruct_ros disparity_node --ros-args -r left/image_rect:=/left/image_rect
//         -r right/image_rect:=/right/image_rect -r right/camera_info:=/right/camera_info
//         -p max_disparity:=128 -p device:=cuda
// Of pairs that come while another one is matched the latest waits, the others are dropped.

#include <message_filters/subscriber.h>
#include <message_filters/time_synchronizer.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <reconstruct/pair_options.hpp>
#include <reconstruct/stereo.hpp>
#include <sensor_msgs/image_encodings.hpp>
#include <sensor_msgs/msg/camera_info.hpp>
#include <sensor_msgs/msg/image.hpp>
#include <stereo_msgs/msg/disparity_image.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using sensor_msgs::msg::CameraInfo;
using sensor_msgs::msg::Image;
using stereo_msgs::msg::DisparityImage;
namespace encodings = sensor_msgs::image_encodings;

/// @param pixel  bytes
/// @throws UsageError where the message has less data than it says
void check_rows(const Image& image, std::size_t pixel) {
  const std::size_t row = pixel * image.width;
  if (image.step < row)
    throw reconstruct::UsageError("an image of " + std::to_string(image.width) + " pixels in " +
                                  image.encoding + " has rows of " + std::to_string(image.step) +
                                  " bytes; they take " + std::to_string(row));
  const std::size_t bytes = std::size_t{image.step} * image.height;
  if (image.data.size() < bytes)
    throw reconstruct::UsageError(
        "an image of " + std::to_string(image.height) + " rows of " + std::to_string(image.step) +
        " bytes has " + std::to_string(image.data.size()) + " bytes; it must have " + std::to_string(bytes));
}

/// The pixels of a message, without a copy where the library takes them as they are.
/// @param rgb  keeps the others
/// @throws UsageError for an encoding that is none of 8 and 16 bits, and where data is missing
reconstruct::ImageView view_of(const Image& image, std::vector<std::uint8_t>& rgb) {
  const int width = static_cast<int>(image.width), height = static_cast<int>(image.height);
  const auto pitch = static_cast<std::ptrdiff_t>(image.step);
  const auto as = [&](reconstruct::PixelType type, std::size_t pixel) {
    check_rows(image, pixel);
    return reconstruct::ImageView{image.data.data(), width, height, pitch, type};
  };
  if (image.encoding == encodings::MONO8) return as(reconstruct::PixelType::kGrey8, 1);
  if (image.encoding == encodings::MONO16 && image.is_bigendian == 0)
    return as(reconstruct::PixelType::kGrey16, 2);
  if (image.encoding == encodings::RGB8) return as(reconstruct::PixelType::kRgb8, 3);
  if (image.encoding != encodings::BGR8)
    throw reconstruct::UsageError("images are " + image.encoding +
                                  "; they must be mono8, mono16, rgb8 or bgr8");
  check_rows(image, 3);
  rgb.resize(std::size_t{3} * image.width * image.height);
  for (std::size_t y = 0; y < image.height; ++y)
    for (std::size_t x = 0; x < image.width; ++x)
      for (std::size_t channel = 0; channel < 3; ++channel)
        rgb[3 * (y * image.width + x) + channel] = image.data[y * image.step + 3 * x + 2 - channel];
  return {rgb.data(), width, height, 3 * static_cast<std::ptrdiff_t>(width), reconstruct::PixelType::kRgb8};
}

class DisparityNode : public rclcpp::Node {
 public:
  DisparityNode()
      : Node("disparity"),
        device_({.device = declare_parameter<std::string>("device", "auto"),
                 .threads = static_cast<int>(declare_parameter<int>("threads", 0)),
                 .memory_limit = {},
                 .gpu_memory_limit = {}}),
        left_(this, "left/image_rect"),
        right_(this, "right/image_rect"),
        camera_(this, "right/camera_info"),
        pairs_(left_, right_, camera_, 1),
        disparities_(create_publisher<DisparityImage>("disparity", rclcpp::SensorDataQoS())) {
    options_.min_disparity = static_cast<int>(declare_parameter<int>("min_disparity", 0));
    options_.max_disparity = static_cast<int>(declare_parameter<int>("max_disparity", 64));
    options_.fill = declare_parameter<bool>("fill", false);
    pairs_.registerCallback(&DisparityNode::match, this);
    RCLCPP_INFO(get_logger(), "matching on %s", device_.name().c_str());
  }

 private:
  void match(const Image::ConstSharedPtr& left, const Image::ConstSharedPtr& right,
             const CameraInfo::ConstSharedPtr& camera) {
    try {
      const reconstruct::Disparities found =
          reconstruct::match(device_, view_of(*left, left_rgb_), view_of(*right, right_rgb_), options_);
      disparities_->publish(message_of(found.disparity, *left, *camera));
    } catch (const reconstruct::Error& error) {
      RCLCPP_ERROR_THROTTLE(get_logger(), *get_clock(), 1000, "%s", error.what());
    }
  }

  /// Unknown is a disparity below the least one.
  std::unique_ptr<DisparityImage> message_of(const reconstruct::Map<float>& disparity, const Image& left,
                                             const CameraInfo& camera) const {
    auto message = std::make_unique<DisparityImage>();
    message->header = left.header;
    message->f = static_cast<float>(camera.p[0]);
    message->t = static_cast<float>(-camera.p[3] / camera.p[0]);  // P of the right camera has -f * baseline
    message->min_disparity = static_cast<float>(*options_.min_disparity);
    message->max_disparity = static_cast<float>(*options_.max_disparity - 1);
    message->delta_d = 1.0f / 16;
    message->valid_window.width = left.width;
    message->valid_window.height = left.height;
    Image& image = message->image;
    image.header = left.header;
    image.encoding = encodings::TYPE_32FC1;
    image.width = left.width;
    image.height = left.height;
    image.step = left.width * static_cast<std::uint32_t>(sizeof(float));
    image.data.resize(std::size_t{image.step} * image.height);
    for (int y = 0; y < disparity.height; ++y) {
      const float* const row = disparity.row(y);
      for (int x = 0; x < disparity.width; ++x) {
        const float value = std::isnan(row[x]) ? message->min_disparity - 1 : row[x];
        std::memcpy(&image.data[static_cast<std::size_t>(y) * image.step + sizeof(float) * x], &value,
                    sizeof value);
      }
    }
    return message;
  }

  reconstruct::Device device_;
  reconstruct::PairOptions options_;
  std::vector<std::uint8_t> left_rgb_, right_rgb_;
  message_filters::Subscriber<Image> left_, right_;
  message_filters::Subscriber<CameraInfo> camera_;
  message_filters::TimeSynchronizer<Image, Image, CameraInfo> pairs_;
  rclcpp::Publisher<DisparityImage>::SharedPtr disparities_;
};

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  try {
    rclcpp::spin(std::make_shared<DisparityNode>());
  } catch (const reconstruct::Error& error) {
    RCLCPP_FATAL(rclcpp::get_logger("disparity"), "%s", error.what());
    return error.exit_code();
  }
  rclcpp::shutdown();
  return 0;
}

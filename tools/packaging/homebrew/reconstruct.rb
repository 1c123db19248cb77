# Without CUDA; on Linux, whose calls it uses.
class Reconstruct < Formula
  desc "Depth maps and a fused point cloud from calibrated photos"
  homepage "https://github.com/OWNER/reconstruct"
  url "https://github.com/OWNER/reconstruct/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "eigen" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "xxhash" => :build
  depends_on "fmt"
  depends_on "highway"
  depends_on "jpeg-turbo"
  depends_on "libpng"
  depends_on "libtiff"
  depends_on :linux
  depends_on "opencv"
  depends_on "spdlog"
  depends_on "tbb"
  depends_on "tomlplusplus"

  def install
    system "cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DRECON_CUDA=OFF", "-DRECON_PYTHON=OFF",
           "-DRECON_BUILD_TESTS=OFF", "-DRECON_COMMIT=v#{version}", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"reconstruct", share/"reconstruct/scenes/demo", "--device", "cpu", "--output", testpath/"demo"
    assert_path_exists testpath/"demo/fused.ply"
  end
end

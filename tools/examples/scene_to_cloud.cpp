// A scene to a cloud, with progress: scene_to_cloud SCENE OUTPUT [NAME=VALUE...]
// NAME=VALUE are options of the command line, such as quality=draft. The cloud is OUTPUT/fused.ply.

#include <iostream>
#include <reconstruct/scene.hpp>

int main(int argc, char** argv) {
  if (argc < 3) return std::cerr << "scene_to_cloud SCENE OUTPUT [NAME=VALUE...]\n", 2;
  reconstruct::Options options = {{"output", argv[2]}};
  for (int i = 3; i < argc; ++i) {
    const std::string option = argv[i];
    const std::size_t equals = option.find('=');
    options[option.substr(0, equals)] = equals == std::string::npos ? "true" : option.substr(equals + 1);
  }
  reconstruct::Listener listener;
  listener.progress = [](const reconstruct::Progress& progress) {
    std::cout << progress.step << ": " << progress.done << " of " << progress.total << "\n";
  };
  listener.message = [](reconstruct::MessageLevel level, const std::string& text) {
    if (level >= reconstruct::MessageLevel::kWarning) std::cerr << text << "\n";
  };
  try {
    const reconstruct::RunResult result = reconstruct::run({argv[1]}, options, listener);
    std::cout << "the cloud is " << argv[2] << "/fused.ply" << (result.complete ? "" : ", some views failed")
              << "\n";
    return result.complete ? 0 : 7;
  } catch (const reconstruct::Error& error) {
    return std::cerr << error.what() << "\n", error.exit_code();
  }
}

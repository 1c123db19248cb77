// write_manual FOLDER VERSION: writes reconstruct.1, the page reference.md, the completion of reconstruct for
// each shell, in FOLDER/api what the library compiles of the options, and in FOLDER/sources the files of the
// source tree that are made from them, when it is built.

#include <filesystem>
#include <fstream>
#include <iostream>

#include "tools/manual/manual.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string folder = argv[1];
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream file(folder + "/" + name);
    file << text << std::flush;
    if (!file) std::cerr << "write_manual: " << folder << "/" << name << " cannot be written\n";
    return file.good();
  };
  const recon::CompletedCommand command = recon::completed_reconstruct();
  bool written = write("reconstruct.1", recon::man_page(argv[2])) &&
                 write("reference.md", recon::option_reference()) &&
                 write("bash/reconstruct", recon::completion_script(command, "bash")) &&
                 write("zsh/_reconstruct", recon::completion_script(command, "zsh")) &&
                 write("fish/reconstruct.fish", recon::completion_script(command, "fish"));
  for (const recon::GeneratedFile& file : recon::typed_options()) {
    std::filesystem::create_directories((folder / std::filesystem::path(file.path)).parent_path());
    written = write(file.path, file.text) && written;
  }
  return written ? 0 : 1;
}

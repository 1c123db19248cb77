// write_manual FOLDER VERSION: writes reconstruct.1, the bash completion of reconstruct and reference.md,
// when it is built.

#include <fstream>
#include <iostream>

#include "tools/manual/manual.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string folder = argv[1];
  std::ofstream page(folder + "/reconstruct.1"), completion(folder + "/reconstruct.bash"),
      reference(folder + "/reference.md");
  page << recon::man_page(argv[2]) << std::flush;
  completion << recon::bash_completion() << std::flush;
  reference << recon::option_reference() << std::flush;
  if (page && completion && reference) return 0;
  std::cerr << "write_manual: " << folder << " cannot be written\n";
  return 1;
}

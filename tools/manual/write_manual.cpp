// write_manual FOLDER VERSION: writes reconstruct.1 and the bash completion of reconstruct, when it is built.

#include <fstream>
#include <iostream>

#include "tools/manual/manual.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string folder = argv[1];
  std::ofstream page(folder + "/reconstruct.1"), completion(folder + "/reconstruct.bash");
  page << recon::man_page(argv[2]) << std::flush;
  completion << recon::bash_completion() << std::flush;
  if (page && completion) return 0;
  std::cerr << "write_manual: " << folder << " cannot be written\n";
  return 1;
}

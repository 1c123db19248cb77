# nix-build tools/packaging/nix, of the sources around it; --arg cudaSupport true has the kernels for NVIDIA GPUs.
{ pkgs ? import <nixpkgs> { config.allowUnfree = cudaSupport; }
, cudaSupport ? false
}:
let
  project = builtins.fromTOML (builtins.readFile ../../python/pyproject.toml);
  # What is built and the work tree's own folders stay out.
  source = pkgs.lib.cleanSourceWith {
    src = pkgs.lib.cleanSource ../../..;
    filter = path: type: baseNameOf path != "build";
  };
in
pkgs.stdenv.mkDerivation {
  pname = "reconstruct";
  version = project.project.version;
  src = source;
  nativeBuildInputs = [ pkgs.cmake pkgs.ninja ] ++ pkgs.lib.optional cudaSupport pkgs.cudaPackages.cuda_nvcc;
  buildInputs = with pkgs; [
    cli11 eigen fmt libhwy libjpeg libpng libtiff nlohmann_json opencv4 spdlog tbb_2022 tomlplusplus xxHash
  ] ++ pkgs.lib.optionals cudaSupport [ pkgs.cudaPackages.cuda_cudart pkgs.cudaPackages.cuda_cccl ];
  cmakeFlags = [
    "-DRECON_CUDA=${if cudaSupport then "ON" else "OFF"}"
    "-DRECON_PYTHON=OFF"
    "-DRECON_BUILD_TESTS=OFF"
    "-DRECON_COMMIT=v${project.project.version}"
  ];
  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/reconstruct $out/share/reconstruct/scenes/demo --device cpu --output demo
  '';
  meta = {
    description = "Depth maps and a fused point cloud from calibrated photos";
    license = pkgs.lib.licenses.mit;
    platforms = pkgs.lib.platforms.linux;
    mainProgram = "reconstruct";
  };
}

# reconstruct for NVIDIA GPUs and the CPU; running needs the NVIDIA Container Toolkit on the host:
#   docker build -f tools/docker/cuda.Dockerfile -t reconstruct .
#   docker run --rm --gpus all --user "$(id -u):$(id -g)" -v "$PWD:/data" reconstruct scene/
FROM nvidia/cuda:13.0.0-devel-ubuntu24.04 AS toolkit

FROM debian:12 AS build
COPY --from=toolkit /usr/local/cuda-13.0 /usr/local/cuda
# The commit that the programs state, of a source without .git.
ARG COMMIT=
COPY . /source
WORKDIR /source
RUN tools/install-packages build package \
 && CUDACXX=/usr/local/cuda/bin/nvcc cmake --preset package -DRECON_CUDA=ON -DRECON_PYTHON=OFF -DRECON_COMMIT="$COMMIT" \
 && cmake --build --preset package --parallel "$(nproc)" \
 && cpack --config build/package/CPackConfig.cmake -G DEB -B /packages

# CUDA's runtime is in the programs; the driver's libraries come from the host.
FROM debian:12-slim
RUN --mount=from=build,source=/packages,target=/packages \
    apt-get update \
 && apt-get install -y --no-install-recommends /packages/reconstruct_*.deb /packages/libreconstruct0*.deb \
 && rm -rf /var/lib/apt/lists/*
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /data
ENTRYPOINT ["reconstruct"]

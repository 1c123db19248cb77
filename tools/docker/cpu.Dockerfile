# reconstruct for the CPU:
#   docker build -f tools/docker/cpu.Dockerfile -t reconstruct .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" reconstruct scene/
FROM debian:12 AS build
# The commit that the programs state, of a source without .git.
ARG COMMIT=
COPY . /source
WORKDIR /source
RUN tools/install-packages build package \
 && cmake --preset package -DRECON_CUDA=OFF -DRECON_PYTHON=OFF -DRECON_COMMIT="$COMMIT" \
 && cmake --build --preset package --parallel "$(nproc)" \
 && cpack --config build/package/CPackConfig.cmake -G DEB -B /packages

FROM debian:12-slim
RUN --mount=from=build,source=/packages,target=/packages \
    apt-get update \
 && apt-get install -y --no-install-recommends /packages/reconstruct_*.deb /packages/libreconstruct0*.deb \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["reconstruct"]

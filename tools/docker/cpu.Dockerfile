# reconstruct for the CPU:
#   docker build -f tools/docker/cpu.Dockerfile -t reconstruct .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" reconstruct scene/
FROM debian:12
# The commit that the programs state, of a source without .git.
ARG COMMIT=
COPY . /source
WORKDIR /source
RUN tools/install-packages build \
 && cmake --preset release -DRECON_CUDA=OFF -DRECON_BUILD_TESTS=OFF -DRECON_COMMIT="$COMMIT" \
 && cmake --build --preset release --parallel "$(nproc)" \
 && cmake --install build/release --prefix /usr/local \
 && rm -rf build /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["reconstruct"]

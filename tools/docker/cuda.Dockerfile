# reconstruct for NVIDIA GPUs and the CPU; running needs the NVIDIA Container Toolkit on the host:
#   docker build -f tools/docker/cuda.Dockerfile -t reconstruct .
#   docker run --rm --gpus all --user "$(id -u):$(id -g)" -v "$PWD:/data" reconstruct scene/
FROM debian:12
SHELL ["/bin/bash", "-c"]
ARG CUDA=13.0
# The toolkit is in NVIDIA's repository for Debian 12.
ADD https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/cuda-keyring_1.1-1_all.deb /tmp/keyring.deb
COPY . /source
WORKDIR /source
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && dpkg -i /tmp/keyring.deb \
 && apt-get update && apt-get install -y --no-install-recommends cuda-{nvcc,cudart-dev,cccl}-${CUDA/./-} \
 && tools/install-packages build \
 && CUDACXX=/usr/local/cuda-$CUDA/bin/nvcc cmake --preset package -DRECON_CUDA=ON \
 && cmake --build --preset package --parallel "$(nproc)" \
 && cmake --install build/package --prefix /usr/local \
 && rm -rf build /var/lib/apt/lists/*
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /data
ENTRYPOINT ["reconstruct"]

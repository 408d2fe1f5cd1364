# gpugate's image: server, keeper and command line. No shell is needed to run it, nothing is written, nobody is root.
# docs/image.md: how to build it, pin its base by digest, list its parts, sign it.
ARG BASE=docker.io/library/python:3.13.7-slim-bookworm

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/gpugate
WORKDIR /src
# Dependencies first, each of the one version and content that the file names: they change less often than the code.
COPY requirements.txt ./
RUN /opt/gpugate/bin/python -m pip install --require-hashes --only-binary :all: -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY docs/rules.md docs/rules.md
COPY policies policies
COPY app app
RUN /opt/gpugate/bin/python -m pip install --no-deps --no-build-isolation . \
    && /opt/gpugate/bin/python -m compileall -q /opt/gpugate/lib \
    && /opt/gpugate/bin/python -m pip uninstall --yes hatchling pip

FROM ${BASE}
COPY --from=build /opt/gpugate /opt/gpugate
ENV PATH=/opt/gpugate/bin:${PATH} PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
# By number, so that the kubelet can tell that it is not root; the same as in the manifests.
USER 65532:65532
WORKDIR /
EXPOSE 10250 8080
ENTRYPOINT ["gpugate"]
CMD ["--help"]

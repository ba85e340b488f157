# syntax=docker/dockerfile:1
# The image of the controller: one static program and the certificates of public
# authorities; no shell, not root. `make release` makes the same image without docker.
#
#   docker buildx build --platform linux/amd64,linux/arm64 \
#     --build-arg RELEASE=v0.1.0 --build-arg COMMIT=$(git rev-parse HEAD) -t tenon .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH RELEASE=v0.0.0-dev COMMIT
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/cache \
    GOCACHE=/cache go run ./tools/release -version "$RELEASE" -commit "$COMMIT" -targets "$TARGETOS/$TARGETARCH" -root /image

FROM scratch
LABEL org.opencontainers.image.title="tenon" \
      org.opencontainers.image.source="https://github.com/tenon-sh/tenon" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /
WORKDIR /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/tenon"]

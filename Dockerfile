# syntax=docker/dockerfile:1
# The image of the controller: one static program and the certificates of public
# authorities; no shell, not root.
#
#   docker buildx build --platform linux/amd64,linux/arm64 \
#     --build-arg RELEASE=v0.1.0 --build-arg COMMIT=$(git rev-parse HEAD) -t tenon .
#
# The same source and arguments make the same program: paths and build ids are left out.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH RELEASE COMMIT
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/cache \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH GOCACHE=/cache GOFLAGS='-trimpath -buildvcs=false' \
    go build -ldflags "-s -w -buildid= -X main.release=$RELEASE -X main.commit=$COMMIT" -o /image/usr/local/bin/tenon ./cmd/tenon
RUN mkdir -p /image/etc/ssl/certs /image/tmp \
    && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
    && echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' > /image/etc/passwd \
    && echo 'nonroot:x:65532:' > /image/etc/group

FROM scratch
LABEL org.opencontainers.image.title="tenon" \
      org.opencontainers.image.source="https://github.com/tenon-sh/tenon" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/tenon"]

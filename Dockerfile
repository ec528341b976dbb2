# The reference server as a container: a static program in an image without a distribution.
#
#   docker build -t mockserver .
#   docker run --rm -p 127.0.0.1:4010:4010 mockserver
#
# docs/containers.md has the settings, Compose, Testcontainers and services of CI.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN .ci/image /image

FROM scratch
LABEL org.opencontainers.image.source="https://github.com/shipping-go/shipping" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /
USER 65532:65532
EXPOSE 4010
# A container is reached through its network, so the server listens on all addresses.
ENV MOCKSERVER_ADDR=0.0.0.0:4010
ENV MOCKSERVER_TLS_CA=/tmp/ca.pem
# A container is shared: worlds that nobody uses close.
ENV MOCKSERVER_CLOSE_IDLE=1h
HEALTHCHECK --interval=10s --timeout=3s --start-period=2s CMD ["/mockserver", "ready"]
ENTRYPOINT ["/mockserver"]
CMD ["serve"]

# The reference server as a container: a static program in an empty image, run by nobody in particular.
#
#   docker build -t mockserver .
#   docker run --rm -p 127.0.0.1:4010:4010 mockserver
#
# Publish the port on 127.0.0.1, as above. /_mock/ accepts requests that come through a published port only with
# the token that serve prints, or that -e MOCKSERVER_TOKEN=… sets, in the header X-Mock-Token. /_mock/healthz needs none.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /mockserver ./mockserver/cmd/mockserver

FROM scratch
COPY --from=build /mockserver /mockserver
# Nobody has an account here, so the user is a number. Nothing in the image is writable.
USER 65532:65532
EXPOSE 4010
# Inside a container every address but its own loopback is the outside, so it listens on all; what is
# published decides who reaches it.
ENV MOCKSERVER_ADDR=0.0.0.0:4010
HEALTHCHECK --interval=10s --timeout=3s --start-period=2s CMD ["/mockserver", "ready", "http://127.0.0.1:4010"]
ENTRYPOINT ["/mockserver"]
CMD ["serve"]

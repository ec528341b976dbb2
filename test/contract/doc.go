// Package contract holds the service's OpenAPI document, the reference server, the client and the
// golden answers against each other, so that no two of them can drift apart:
//
//   - the document is loaded and validated by kin-openapi;
//   - every operation is called with hand-made requests and with the client, over real sockets, and
//     every request and answer is held against the document, in which no unlisted field is allowed;
//   - the golden answers of the client and the golden records of the server are held against it;
//   - the server's own checker, which has no dependencies, is held to the verdicts of kin-openapi;
//   - clients that oapi-codegen and openapi-typescript generate from it are built and run.
//
// All but the TypeScript client is in go test ./...; run.sh runs that too and needs Node.js 20.
package contract

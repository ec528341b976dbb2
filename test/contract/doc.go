// Package contract compares the service's OpenAPI document, the reference server, the client and the
// golden responses with each other, so that no two of them can drift apart:
//
//   - the document is loaded and validated by kin-openapi;
//   - every operation is called with hand-made requests and with the client, over real sockets, and
//     every request and response is checked against the document, in which no unlisted field is allowed;
//   - so is every operation of the control surface below /_mock/;
//   - the golden responses of the client are checked against it;
//   - a client that openapi-typescript generates from it is built and run;
//   - Redocly's and Spectral's rules find nothing in it, and Prism nothing between that client and the server.
//
// What needs Node.js 20 is in run.sh, the rest in go test ./....
package contract

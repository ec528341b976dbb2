package wire

// ControlPrefix begins the paths that are the server's own. They need no key, are never faulted, and answer
// programs on this machine and those that send a token: see [Server.foreign].
const ControlPrefix = "/_mock/"

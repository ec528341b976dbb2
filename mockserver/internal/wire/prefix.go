package wire

// ControlPrefix begins the paths of the control surface. They need no key and are never faulted. Programs on this
// machine and programs that send the token may use them.
const ControlPrefix = "/_mock/"

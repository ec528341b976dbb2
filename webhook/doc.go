// Package webhook receives the notifications that the shipping service sends.
//
//	receiver, err := webhook.NewReceiver(func(ctx context.Context, n *webhook.Notification) error {
//		shipment, err := n.Shipment()
//		…
//		return store(ctx, shipment)
//	}, webhook.WithKeys(secretKey))
//	http.Handle("POST /hooks/shipping", receiver)
//	…
//	receiver.Close(ctx) // hands over what was accepted
//
// A [Receiver] is an [http.Handler] that does what every receiver has to and few do: it verifies the
// signature over the raw bytes in constant time and under several keys, so that keys can be rotated;
// limits size and time; drops what it has seen before; answers at once and hands over to workers
// through a bounded queue; and never answers 2xx for what it has not accepted, so that the service
// sends it again. [Tracker] keeps late notifications from undoing newer ones.
//
// The specification shows neither the payload nor the headers nor the signature ("Shape of the
// delivered payload, delivery headers and signature verification: not shown"). What this package takes
// them to be is an assumption, and each has a switch; [WithSignature] and [WithIDHeader] are the first
// to look at.
package webhook

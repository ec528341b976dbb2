// Package webhook receives the notifications that the shipping service sends.
//
//	receiver, err := webhook.NewReceiver(func(ctx context.Context, n *webhook.Notification) error {
//		shipment, err := n.Shipment()
//		…
//		return store(ctx, shipment)
//	}, webhook.WithKeys(secretKey))
//	http.Handle("POST /hooks/shipping", receiver)
//	…
//	receiver.Close(ctx) // waits for the handlers
//
// A [Receiver] is an [http.Handler]. It verifies the signature over the raw bytes in constant time and under several
// keys, so that keys can be rotated; limits size and time; ignores deliveries that it has accepted before; and responds
// 2xx only for handled notifications, so that the service sends the others again. [Tracker] prevents late notifications
// from overwriting newer state.
//
// A delivery is recognized by its identifier and its body, and handled once. A replay on request is a new delivery
// of a new event with the same payload, and is handled again; see [WithDialect] to ignore it. The default [Store]
// of the identifiers is a [MemoryStore]. [WithStore] sets another: a [FileStore] remembers them across restarts,
// and the nested module stores has some for several machines.
//
// A crash loses nothing, because the receiver handles a notification before it responds. For a handler that can take 5
// s, such as a purchase, use [WithWorkers], which responds first. Signatures do not prevent the replay of a captured
// delivery; see [Sign].
//
// The specification shows neither the payload nor the headers nor the signature ("Shape of the delivered payload,
// delivery headers and signature verification: not shown"). They are assumptions of this package; [WithDialect] and
// [WithVerifier] change headers and signature.
package webhook

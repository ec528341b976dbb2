// Package itemkey keeps the key of a batch item in the context of its calls, for the log and for observers.
package itemkey

import "context"

type contextKey struct{}

// With returns a context for the calls of an item.
func With(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, contextKey{}, key)
}

// Of returns the key of the item to which a context belongs; "" outside a batch.
func Of(ctx context.Context) string {
	key, _ := ctx.Value(contextKey{}).(string)
	return key
}

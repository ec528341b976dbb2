// Package list has what the standard library has not for slices.
package list

// Map returns the results of fn for each element.
func Map[T, V any](all []T, fn func(T) V) []V {
	out := make([]V, len(all))
	for i, one := range all {
		out[i] = fn(one)
	}
	return out
}

// Package splitmix contains the mixing function of the random number generator splitmix64.
package splitmix

// Mix maps each number to a different, apparently unrelated one.
func Mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

package mockserver

import "github.com/shipping-go/shipping/mockserver/internal/world"

// Errors of worlds. They are wrapped with words that say what to do.
var (
	// ErrNoWorld is returned for a name that no world can have.
	ErrNoWorld = world.ErrNoWorld
	// ErrWorldExists is returned if a new world has the name of one that is open.
	ErrWorldExists = world.ErrWorldExists
	// ErrTooManyWorlds is returned if the server has as many worlds, or as many records, as it may.
	ErrTooManyWorlds = world.ErrTooManyWorlds
	// ErrTooManyRows is returned if a world stores as many records, or as many bytes, as it may.
	ErrTooManyRows = world.ErrTooManyRows
	// ErrRealClock is returned by [World.Advance] in a world that follows the real time.
	ErrRealClock = world.ErrRealClock
	// ErrStateFile is returned, wrapped with the reason, for a file that cannot be restored from.
	ErrStateFile = world.ErrStateFile
)

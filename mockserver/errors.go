package mockserver

import "github.com/shipping-go/shipping/mockserver/internal/world"

// Errors of worlds. They are wrapped with an explanation.
var (
	// ErrNoWorld is returned for a name that no world can have.
	ErrNoWorld = world.ErrNoWorld
	// ErrWorldExists is returned if a new world has the name of one that is open.
	ErrWorldExists = world.ErrWorldExists
	// ErrTooManyWorlds is returned if the server has no memory for another world; see [WithMaxMemory].
	ErrTooManyWorlds = world.ErrTooManyWorlds
	// ErrTooManyRows is returned if the server has no memory for another record; see [WithMaxMemory].
	ErrTooManyRows = world.ErrTooManyRows
	// ErrRealClock is returned by [World.Advance] in a world that follows the real time.
	ErrRealClock = world.ErrRealClock
	// ErrStateFile is returned, wrapped with the reason, if a state file cannot be restored.
	ErrStateFile = world.ErrStateFile
)

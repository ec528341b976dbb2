package seed

// Plan is what the first state of a world follows from. Worlds of one plan share it.
type Plan struct {
	Seed            uint64
	Empty, LowFunds bool
	Computed        int // transactions of the first wallet, computed; 0: the seeded ones
	Payments        int // seeded payments; 0: the usual number
	ObjectBreakdown bool
}

// debits is how many payments are seeded.
func (p *Plan) debits() int {
	switch {
	case p.Empty || p.Computed > 0:
		return 0
	case p.Payments > 0:
		return p.Payments
	default:
		return seededDebits
	}
}

// Stored returns about how many records an account of the plan stores.
func (p *Plan) Stored() int { return p.debits() + seededRates + seededWebhooks }

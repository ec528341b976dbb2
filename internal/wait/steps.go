package wait

// The steps of a regulatory request, in order, as the events of package shipping name them.
const (
	StepAnalyzed   = "analyzed"
	StepEdited     = "edited"
	StepSelected   = "selected"
	StepPurchased  = "purchased"
	StepPolled     = "polled"
	StepPollFailed = "poll failed"
	StepEnded      = "ended"
)

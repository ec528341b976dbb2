package delivery

import "time"

// Once makes one attempt at a delivery now, tries no second time, and returns what the log says of it.
func (d *Dispatcher) Once(out Delivery) Delivery {
	now := d.config.Clock.Now()
	out.State, out.Reason, out.CreatedAt, out.Due = Failed, "", now, time.Time{}
	if err := CheckTarget(out.URL, d.config.Anywhere); err != nil {
		out.State, out.Reason, out.Attempts = Refused, err.Error(), nil
	} else {
		attempt := Attempt{At: now}
		if attempt.StatusCode, err = d.post(d.ctx, &out); err != nil {
			attempt.Error = err.Error()
		}
		if err == nil && d.config.Policy.Accept(attempt.StatusCode) {
			out.State = Delivered
		} else {
			out.Reason = "not accepted in its only attempt"
		}
		out.Attempts = []Attempt{attempt}
	}
	d.Record(out)
	return out.clone()
}

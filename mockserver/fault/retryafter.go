package fault

// RetryAfter is a form of a Retry-After header.
type RetryAfter string

// Forms of a Retry-After header. RFC 9110 allows seconds and a date, and requires recipients to read all three
// formats of a date.
const (
	RetryAfterSeconds  RetryAfter = "seconds"  // whole seconds
	RetryAfterIMF      RetryAfter = "imf-date" // Mon, 02 Jan 2006 15:04:05 GMT
	RetryAfterRFC850   RetryAfter = "rfc850-date"
	RetryAfterASCTime  RetryAfter = "asctime-date"
	RetryAfterNegative RetryAfter = "negative" // -1
	RetryAfterHuge     RetryAfter = "huge"     // more seconds than 64 bits hold
	RetryAfterRubbish  RetryAfter = "rubbish"  // not a number or a date
	RetryAfterAbsent   RetryAfter = "absent"   // no header
)

// RetryAfters returns every form. The caller may change the slice.
func RetryAfters() []RetryAfter {
	return []RetryAfter{
		RetryAfterSeconds, RetryAfterIMF, RetryAfterRFC850, RetryAfterASCTime,
		RetryAfterNegative, RetryAfterHuge, RetryAfterRubbish, RetryAfterAbsent,
	}
}

package drift

// Unreserved is exported for tests.
var Unreserved = unreserved

// Reasons are all that objects may show.
func Reasons() []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.reason)
	}
	return out
}

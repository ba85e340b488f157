package verb

import "fmt"

// Number is a number of things: "1 error", "2 errors".
func Number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

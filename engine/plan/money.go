package plan

import (
	"fmt"
	"strings"
)

// listed is how many pods or types a line names before it says how many more there are.
const listed = 3

// Money writes a price with as many digits as a machine's price needs.
func Money(currency string, micro int64) string {
	unit := strings.TrimSuffix(currency, "/h")
	switch unit {
	case "", "USD":
		return fmt.Sprintf("$%.4f", hourly(micro))
	}
	return fmt.Sprintf("%.4f %s", hourly(micro), unit)
}

// Some lists items, or the first few of them and how many more there are.
func Some(items []string, all bool) string {
	if all || len(items) <= listed+1 {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(items[:listed], ", "), len(items)-listed)
}

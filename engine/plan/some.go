package plan

import (
	"fmt"
	"strings"
)

// maxNamesListed is how many pods or types a line names before it says how many more there are.
const maxNamesListed = 3

// Some lists items, or the first few of them and how many more there are.
func Some(items []string, all bool) string {
	if all || len(items) <= maxNamesListed+1 {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(items[:maxNamesListed], ", "), len(items)-maxNamesListed)
}

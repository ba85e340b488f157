package plan

import (
	"fmt"
	"strings"
)

// listed is how many pods or types a line names before it says how many more there are.
const listed = 3

// Some lists items, or the first few of them and how many more there are.
func Some(items []string, all bool) string {
	if all || len(items) <= listed+1 {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(items[:listed], ", "), len(items)-listed)
}

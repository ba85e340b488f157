package access

import (
	"os"
	"strings"
	"testing"
)

// Every call that may be sent is told of, with what is done without it.
func TestCallsAreTold(t *testing.T) {
	page, err := os.ReadFile("../../../docs/guide/beside-aws.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Calls() {
		if name := c.Service + ":" + c.Action; !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/guide/beside-aws.md does not speak of %s", name)
		}
	}
}

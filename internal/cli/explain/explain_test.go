package explain_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/cli/explain"
)

// A pod can be named as every list names it, with its namespace before it.
func TestPodsByTheirWholeName(t *testing.T) {
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: shop}, spec: {containers: [{name: c}]}}`
	tests := map[string]struct {
		args []string
		want string
	}{
		"Whole":         {[]string{"pod", "shop/web-1"}, "Pod shop/web-1: finds no place"},
		"OneWord":       {[]string{"pod/shop/web-1"}, "Pod shop/web-1: finds no place"},
		"Apart":         {[]string{"pod", "web-1", "-n", "shop"}, "Pod shop/web-1: finds no place"},
		"Contradiction": {[]string{"pod", "shop/web-1", "-n", "other"}, "shop/web-1 is not of the namespace other that -n names"},
		"Elsewhere":     {[]string{"pod", "web-1"}, "there is no pod default/web-1; one of that name is in namespace shop: say -n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := explain.Command()
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			var out bytes.Buffer
			cmd.SetIn(strings.NewReader(pod))
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			cmd.SetArgs(append(tc.args, "-f", "-"))
			said := ""
			if err := cmd.Execute(); err != nil {
				said = err.Error()
			}
			if said += out.String(); !strings.Contains(said, tc.want) {
				t.Errorf("it says\n%s\nwant %q", said, tc.want)
			}
		})
	}
}

package explain_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/cli/explain"
)

// A pod can be named as every list names it, with its namespace before it.
func TestPodsByTheirWholeName(t *testing.T) {
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: shop}, spec: {containers: [{name: c}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: later, namespace: shop}, spec: {schedulingGates: [{name: example.com/quota}, {name: example.com/licence}], containers: [{name: c}]}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: log, namespace: shop}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}}
---
{apiVersion: v1, kind: Node, metadata: {name: playground}}`
	tests := map[string]struct {
		args []string
		want string
	}{
		"Whole":         {[]string{"pod", "shop/web-1"}, "Pod shop/web-1: finds no place"},
		"OneWord":       {[]string{"pod/shop/web-1"}, "Pod shop/web-1: finds no place"},
		"Apart":         {[]string{"pod", "web-1", "-n", "shop"}, "Pod shop/web-1: finds no place"},
		"Contradiction": {[]string{"pod", "shop/web-1", "-n", "other"}, "shop/web-1 is not of the namespace other that -n names"},
		"Slip":          {[]string{"pod", "shop/wbe-1"}, "there is no pod shop/wbe-1: did you mean shop/web-1?"},
		"NoPod":         {[]string{"pod", "api"}, "there is no pod default/api; `tenon explain pods` lists those that wait"},
		"Daemon":        {[]string{"pod", "log-x2x4z", "-n", "shop"}, "pod shop/log-x2x4z is on no node: if it is there, DaemonSet log made it for a single one, and no other is bought for it"},
		"NotDaemon":     {[]string{"pod", "log-store-x2x4z", "-n", "shop"}, "there is no pod shop/log-store-x2x4z"},
		"NodeSlip":      {[]string{"node", "playgrond"}, `there is no node or claim "playgrond": did you mean playground?`},
		"NoNode":        {[]string{"node", "ip-10-0-0-1"}, "; `tenon explain nodes` lists those there are"},
		"Namespace":     {[]string{"pods", "-n", "shop"}, "shop/web-1  finds no place"},
		"Default":       {[]string{"pods", "-n", "default"}, "No pod is waiting."},
		"NamespaceSlip": {[]string{"pods", "-n", "shpo"}, `there is no namespace "shpo": did you mean shop?`},
		"NoNamespace":   {[]string{"pods", "-n", "nosuch"}, `there is no namespace "nosuch": there is default, shop`},
		"Gates":         {[]string{"pod", "shop/later"}, "Pod shop/later: waits for its scheduling gates example.com/quota, example.com/licence"},
		"Unpriced":      {[]string{"nodes"}, "1 node, the price of 1 is not known\n"},
		"NoPrice":       {[]string{"nodes"}, "playground        -      0"},
		"HiddenPod":     {[]string{"pod", "db-0", "-n", "bank"}, "there is no pod bank/db-0 among those whose names you may read; kubectl auth can-i list pods -n bank"},
		"HiddenPods":    {[]string{"pods", "-n", "bank"}, `there is no namespace "bank" among those whose pods you may list: kubectl auth can-i list pods -n bank`},
		"Elsewhere":     {[]string{"pod", "web-1"}, "there is no pod default/web-1; one of that name is in namespace shop: say -n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := explain.Command()
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			var out bytes.Buffer
			in := pod
			if strings.HasPrefix(name, "Hidden") { // as a controller tells those who may not list the pods of all namespaces
				in += "\n---\n{apiVersion: v1, kind: Pod, metadata: {name: pod_1, namespace: hidden_1}, spec: {containers: [{name: c}]}}"
			}
			cmd.SetIn(strings.NewReader(in))
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

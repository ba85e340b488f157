package playground

import (
	"strings"
	"testing"
)

// What is advised fits what there is: no pool where there are some, the document's own ways where one is
// followed, and a plan that asks the controller.
func TestWelcome(t *testing.T) {
	const pool, helm = "apply -f .tenon/default.yaml", "upgrade --install karpenter"
	at := Contact{Kubeconfig: "/play/.tenon/kubeconfig", Charts: "127.0.0.1:5", Pages: "http://127.0.0.1:6/"}
	pools := at
	pools.Pools = true
	for name, tc := range map[string]struct {
		o       Options
		c       Contact
		has     []string
		hasNone []string
	}{
		"Unauthorized": {
			Options{Controller: ByChart},
			at,
			[]string{"if kubectl is Unauthorized", "`aws eks update-kubeconfig`", "export KUBECONFIG=/play/.tenon/kubeconfig; ", " config use-context tenon\n"},
			nil,
		},
		"Empty":    {Options{Controller: ByChart}, at, []string{pool, "plan --kubeconfig /play/.tenon/kubeconfig --controller http://127.0.0.1:6/\n"}, nil},
		"Pools":    {Options{Controller: ByChart}, pools, nil, []string{pool}},
		"ByHand":   {Options{Controller: ByHand, Bare: true}, at, []string{pool, helm}, nil},
		"HasPools": {Options{Controller: ByHand, Bare: true}, pools, []string{helm}, []string{pool}},
		"Document": {
			Options{Controller: ByHand, Bare: true, Document: "004"},
			at,
			[]string{"cd /play/.tenon/document; export PATH=$PWD/bin:$PATH; . ../aws.env", "then type document 004", "https://charts.karpenter.sh/ is http://127.0.0.1:5/"},
			[]string{pool, helm},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.o.Dir = DefaultDir
			var b strings.Builder
			welcome(&b, tc.o, tc.c)
			for _, want := range tc.has {
				if !strings.Contains(b.String(), want) {
					t.Errorf("it lacks %q:\n%s", want, b.String())
				}
			}
			for _, not := range tc.hasNone {
				if strings.Contains(b.String(), not) {
					t.Errorf("it has %q:\n%s", not, b.String())
				}
			}
		})
	}
}

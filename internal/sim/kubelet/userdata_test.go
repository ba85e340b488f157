package kubelet

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

const (
	al2 = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
echo "mine first"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash -xe
exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1
# /etc/eks/bootstrap.sh 'not this one'
/etc/eks/bootstrap.sh 'demo' --apiserver-endpoint 'https://127.0.0.1:1234' --b64-cluster-ca 'Q0E=' \
--dns-cluster-ip '10.96.0.10' \
--use-max-pods false \
--kubelet-extra-args '--node-labels="karpenter.sh/capacity-type=spot,karpenter.sh/nodepool=default" --register-with-taints="karpenter.sh/unregistered:NoExecute,team=a:NoSchedule" --max-pods=29 --system-reserved="cpu=100m" --eviction-hard="memory.available<5%,nodefs.available<10%"'
--//--
`
	al2023 = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

# Tenon
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: demo
    apiServerEndpoint: https://127.0.0.1:1234
    certificateAuthority: Q0E=
    cidr: 10.96.0.0/16
  kubelet:
    config:
      clusterDNS: [10.96.0.10]
      maxPods: 29
      registerWithTaints:
      - {effect: NoExecute, key: karpenter.sh/unregistered}
      - {effect: NoSchedule, key: team, value: a}
      systemReserved: {cpu: 100m}
      evictionHard: {memory.available: 5%, nodefs.available: 10%}
    flags:
    - --node-labels="karpenter.sh/capacity-type=spot,karpenter.sh/nodepool=default"
--//--
`
	bottlerocket = `
[settings]
[settings.kubernetes]
api-server = 'https://127.0.0.1:1234'
cluster-certificate = 'Q0E='
cluster-name = 'demo'
cluster-dns-ip = '10.96.0.10'
max-pods = 29

[settings.kubernetes.node-labels]
'karpenter.sh/capacity-type' = 'spot'
'karpenter.sh/nodepool' = 'default'

[settings.kubernetes.node-taints]
'karpenter.sh/unregistered' = [':NoExecute']
team = ['a:NoSchedule']

[settings.kubernetes.system-reserved]
cpu = '100m'

[settings.kubernetes.eviction-hard]
'memory.available' = '5%'
'nodefs.available' = '10%'
`
	windows = `<powershell>
[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"
& $EKSBootstrapScriptFile -EKSClusterName 'demo' -APIServerEndpoint 'https://127.0.0.1:1234' -Base64ClusterCA 'Q0E=' -KubeletExtraArgs '--node-labels="karpenter.sh/capacity-type=spot,karpenter.sh/nodepool=default" --register-with-taints="karpenter.sh/unregistered:NoExecute,team=a:NoSchedule" --max-pods=29 --system-reserved="cpu=100m" --eviction-hard="memory.available<5%,nodefs.available<10%"' -DNSClusterIP '10.96.0.10'
</powershell>
`
)

func TestParseReadsEveryFamilyTheSame(t *testing.T) {
	want := Settings{
		Cluster: "demo", Endpoint: "https://127.0.0.1:1234",
		Labels: map[string]string{"karpenter.sh/capacity-type": "spot", "karpenter.sh/nodepool": "default"},
		Taints: []corev1.Taint{
			{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute},
			{Key: "team", Value: "a", Effect: corev1.TaintEffectNoSchedule},
		},
		MaxPods:        29,
		SystemReserved: map[string]string{"cpu": "100m"},
		EvictionHard:   map[string]string{"memory.available": "5%", "nodefs.available": "10%"},
	}
	for name, c := range map[string]struct {
		userData string
		density  bool
	}{
		"AL2":                     {userData: al2},
		"AL2023":                  {userData: al2023},
		"Bottlerocket":            {userData: bottlerocket, density: true},
		"Windows":                 {userData: windows},
		"with Windows' line ends": {userData: strings.ReplaceAll(al2, "\n", "\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			want := want
			want.DensityReserve = c.density
			got, err := Parse([]byte(c.userData))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ userData, says string }{
		"nothing":                    {"", "joins no cluster"},
		"a script of somebody":       {"#!/bin/sh\necho hello\n", "joins no cluster"},
		"settings without a cluster": {"[settings.host-containers.admin]\nenabled = true\n", "joins no cluster"},
		"a label that kubelets may not set": {
			"#!/bin/sh\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--node-labels=node-role.kubernetes.io/worker=x,a=b'", "may not set its labels node-role.kubernetes.io/worker",
		},
		"a taint without effect":   {"#!/bin/sh\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--register-with-taints=a=b'", "no effect"},
		"a taint of an odd effect": {"#!/bin/sh\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--register-with-taints=a=b:Never'", `"Never"`},
		"pods that are no number":  {"#!/bin/sh\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=many'", "--max-pods=many"},
		"neither fish nor fowl":    {"hello there", "no script, no node configuration and no settings"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.userData))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want it to say %q", err, c.says)
			}
			if joins := c.says != "joins no cluster"; errors.Is(err, ErrNoJoin) == joins {
				t.Errorf("%v: is it ErrNoJoin? want %t", err, !joins)
			}
		})
	}
}

func TestSplitTakesQuotesOff(t *testing.T) {
	for in, want := range map[string][]string{
		`a  b`:                    {"a", "b"},
		`a 'b c' "d e"`:           {"a", "b c", "d e"},
		`--x="a b" --y='c "d" e'`: {"--x=a b", `--y=c "d" e`},
		`a\ b "c\"d" ''`:          {"a b", `c"d`, ""},
	} {
		if d := cmp.Diff(want, split(in)); d != "" {
			t.Errorf("%s: %s", in, d)
		}
	}
}

package bootstrap_test

import (
	"flag"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

func cluster() bootstrap.Cluster {
	return bootstrap.Cluster{
		Name: "testcluster", Endpoint: "https://example.sk1.eu-west-1.eks.amazonaws.com", CA: "Y2VydGlmaWNhdGU=",
		DNS: "10.100.0.10", ServiceCIDR: "10.100.0.0/16",
	}
}

func labels() map[string]string {
	return map[string]string{
		"karpenter.sh/nodepool": "default", "karpenter.sh/capacity-type": "spot", "karpenter.k8s.aws/ec2nodeclass": "default",
		"team": "a", "topology.kubernetes.io/zone": "eu-west-1a", "node-role.kubernetes.io/worker": "",
	}
}

// node is an ordinary node of a family, with the user's own part.
func node(family, own string) bootstrap.Node {
	return bootstrap.Node{
		Family: family, Cluster: cluster(), Labels: labels(), Own: own, Kubelet: kubelet.Config{MaxPods: new(int64(58))},
		Taints: []world.Taint{{Key: "gpu", Value: "yes", Effect: world.NoSchedule}},
	}
}

const everySetting = `{"maxPods":42,"podsPerCore":5,"systemReserved":{"cpu":"100m","memory":"200Mi"},"kubeReserved":{"memory":"1Gi"},
	"evictionHard":{"memory.available":"5%","nodefs.available":"10%"},"evictionSoft":{"memory.available":"10%"},
	"evictionSoftGracePeriod":{"memory.available":"1m30s"},"evictionMaxPodGracePeriod":60,
	"imageGCHighThresholdPercent":85,"imageGCLowThresholdPercent":80,"cpuCFSQuota":false,"clusterDNS":["10.0.0.53"],
	"serializeImagePulls":false}`

func withSettings(t *testing.T, n bootstrap.Node) bootstrap.Node {
	t.Helper()
	c, err := kubelet.Parse([]byte(everySetting))
	if err != nil {
		t.Fatal(err)
	}
	n.Kubelet, n.RAID0 = c, true
	return n
}

// parts is a MIME message of the user, with a script and a cloud-config.
const parts = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="BOUNDARY"

--BOUNDARY
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
echo hello

--BOUNDARY
Content-Type: text/cloud-config

#cloud-config
packages: [jq]

--BOUNDARY--
`

func ipv6(n bootstrap.Node) bootstrap.Node {
	n.Cluster.DNS, n.Cluster.ServiceCIDR = "fd30:1c53:5f8a::a", "fd30:1c53:5f8a::/108"
	return n
}

// TestUserData compares with files in testdata; MIME's line ends are left out
// of them. -rewrite makes them again: read what changed before it is kept.
func TestUserData(t *testing.T) {
	banana := bootstrap.Node{
		Family: "AL2", Legacy: true, Cluster: bootstrap.Cluster{
			Name: "testkarpenter", Endpoint: "https://xxxxxxxx.sk1.cn-north-1.eks.amazonaws.com.cn", CA: "xxxxxxx", DNS: "10.100.0.10",
		},
		Labels: map[string]string{
			"billing-team": "my-team", "karpenter.sh/capacity-type": "on-demand", "karpenter.sh/provisioner-name": "banana",
		},
		Taints: []world.Taint{{Key: "example.com/special-taint", Effect: world.NoSchedule}},
	}
	nodeConfig := "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      shutdownGracePeriod: 30s\n"
	tests := map[string]struct {
		why  string
		node bootstrap.Node
	}{
		"al2":             {"The script of the image is called with everything the node needs.", node("AL2", "")},
		"al2-settings":    {"Kubelet settings become flags in a fixed order.", withSettings(t, node("AL2", ""))},
		"al2-script":      {"A plain script of the user becomes a part that runs first.", node("AL2", "#!/bin/bash\necho mine\n")},
		"al2-mime":        {"The user's parts stay as they are.", node("AL2", parts)},
		"al2-ipv6":        {"An IPv6 cluster says so.", ipv6(node("AL2", ""))},
		"al2-banana":      {"The v1alpha5 form, as its users know it.", banana},
		"al2023":          {"A NodeConfig for nodeadm.", node("AL2023", "")},
		"al2023-settings": {"All kubelet settings are passed on, also those unknown here.", withSettings(t, node("AL2023", ""))},
		"al2023-script":   {"A plain script of the user becomes a part that runs first.", node("AL2023", "#!/bin/bash\necho mine\n")},
		"al2023-config":   {"A NodeConfig of the user is a part of its kind, which nodeadm merges.", node("AL2023", nodeConfig)},
		"al2023-mime":     {"The user's parts stay as they are.", node("AL2023", parts)},
		"bottlerocket":    {"Settings in TOML.", node("Bottlerocket", "")},
		"bottlerocket-own": {
			"The user's settings stay, but for those that the node needs.",
			withSettings(t, node("Bottlerocket", `
[settings.kubernetes]
cluster-name = "other"
allowed-unsafe-sysctls = ["net.core.somaxconn"]
[settings.kubernetes.node-labels]
mine = "yes"
team = "b"
[settings.kubernetes.node-taints]
mine = ["yes:NoSchedule"]
[settings.host-containers.admin]
enabled = true
`)),
		},
		"windows":     {"PowerShell that calls the script of the image.", withSettings(t, node("Windows2022", ""))},
		"windows-own": {"The user's script runs first, with or without its tags.", node("Windows2019", "<powershell>\nWrite-Host mine\n</powershell>\n")},
		"custom":      {"A custom image gets what the user wrote and nothing else.", node("Custom", "#!/bin/sh\nexec my-bootstrap\n")},
		"ubuntu":      {"Ubuntu is bootstrapped like AL2.", bootstrap.Node{Family: "Ubuntu", Legacy: true, Cluster: cluster(), Kubelet: kubelet.Config{ClusterDNS: []string{"10.0.0.53"}, MaxPods: new(int64(20))}}},
		"quotes":      {"A quote in a name does not end the word.", bootstrap.Node{Family: "AL2", Cluster: bootstrap.Cluster{Name: "it's"}, Labels: map[string]string{}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := bootstrap.UserData(tc.node)
			if err != nil {
				t.Fatal(err)
			}
			got = strings.ReplaceAll(got, "\r\n", "\n")
			file := filepath.Join("testdata", name+".txt")
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
}

// TestReadable reads a message back as cloud-init does.
func TestReadable(t *testing.T) {
	got, err := bootstrap.UserData(node("AL2023", parts))
	if err != nil {
		t.Fatal(err)
	}
	message, err := mail.ReadMessage(strings.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for r := multipart.NewReader(message.Body, params["boundary"]); ; {
		p, err := r.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, p.Header.Get("Content-Type"))
	}
	want := []string{`text/x-shellscript; charset="us-ascii"`, "text/cloud-config", "application/node.eks.aws"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("parts: -want +got\n%s", diff)
	}
}

func TestRefused(t *testing.T) {
	noCIDR := node("AL2023", "")
	noCIDR.Cluster.ServiceCIDR = ""
	tests := map[string]struct {
		node  bootstrap.Node
		names string
	}{
		"NoServiceCIDR":  {noCIDR, "service CIDR"},
		"NotMultipart":   {node("AL2", "MIME-Version: 1.0\nContent-Type: text/plain\n\nhello\n"), "multipart"},
		"NoContentType":  {node("AL2", "MIME-Version: 1.0\n\nhello\n"), "Content-Type"},
		"CutOff":         {node("AL2", "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\nContent-Type: text/plain\n\nhel"), "part 1"},
		"BoundaryInside": {node("AL2", "#!/bin/sh\n--// never\n"), "--//"},
		"NotTOML":        {node("Bottlerocket", "[settings\n"), "line 1"},
		"NotATable":      {node("Bottlerocket", "settings = 5\n"), "settings must be a table"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := bootstrap.UserData(tc.node); err == nil || !strings.Contains(err.Error(), tc.names) {
				t.Errorf("got %v, want an error that names %q", err, tc.names)
			}
		})
	}
}

// TestLabels leaves out what kube-apiserver would refuse of a kubelet, and what the era's user data does not name.
func TestLabels(t *testing.T) {
	got, err := bootstrap.UserData(bootstrap.Node{Family: "AL2", Legacy: true, Labels: map[string]string{
		"team": "a", "karpenter.sh/nodepool": "p", "topology.kubernetes.io/zone": "z", "node.kubernetes.io/instance-type": "t",
		"node-restriction.kubernetes.io/x": "no", "node-role.kubernetes.io/worker": "no", "kubernetes.io/arch": "amd64", "karpenter.k8s.aws/awsnodetemplate": "c", "topology.k8s.aws/zone-id": "id",
		"sub.kubelet.kubernetes.io/x": "yes", "anything.k8s.io/x": "no",
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := "--node-labels=karpenter.sh/nodepool=p,sub.kubelet.kubernetes.io/x=yes,team=a,topology.k8s.aws/zone-id=id'"
	if !strings.Contains(got, want) {
		t.Errorf("want labels %s\ngot %s", want, got)
	}
}

// FuzzUserData wants that whatever the user wrote is merged or refused.
func FuzzUserData(f *testing.F) {
	for _, own := range []string{"", "#!/bin/sh\n", parts, "[settings]\na = 1\n", "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"\"\n\n"} {
		f.Add(own)
	}
	f.Fuzz(func(t *testing.T, own string) {
		for _, family := range []string{"AL2", "AL2023", "Bottlerocket", "Windows2022"} {
			got, err := bootstrap.UserData(node(family, own))
			if (got == "") == (err == nil) {
				t.Errorf("%s: got %q and %v", family, got, err)
			}
		}
	})
}

package doctor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/aws/examine"
	"github.com/tenon-sh/tenon/internal/cli/doctor"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func TestMain(m *testing.M) { kubetest.Main(m, kubetest.CRDs("../../../api/crds")) }

// kubeconfig writes how to reach the control plane to a file.
func kubeconfig(t *testing.T) string {
	t.Helper()
	k := kubetest.Config(t)
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: k.Host, CertificateAuthorityData: k.CAData, CertificateAuthority: k.CAFile}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: k.CertData, ClientKeyData: k.KeyData, ClientCertificate: k.CertFile, ClientKey: k.KeyFile, Token: k.BearerToken,
	}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// The verb reads a real API server and asks a served account, and its status tells what it found.
func TestDoctor(t *testing.T) {
	file := kubeconfig(t)
	c := kubetest.Client(t, awsv1.AddToScheme, v1.AddToScheme)
	class, pool := &awsv1.EC2NodeClass{}, &v1.NodePool{}
	if err := yaml.Unmarshal([]byte(`
metadata: {name: doctored}
spec:
  role: KarpenterNodeRole-demo
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
`), class); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(`
metadata: {name: doctored}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: doctored}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
`), pool); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	account, err := awsapi.NewAccount(awsapi.Config{Region: "us-west-2", ClusterName: "demo", CA: []byte("certificate"), Endpoint: "https://demo.example", Now: time.Now, Limits: map[string]market.Limit{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	url, done, err := awsapi.NewServer(account).Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); <-done })
	t.Setenv("AWS_ENDPOINT_URL", url)
	t.Setenv("AWS_ACCESS_KEY_ID", awsapi.ControllerKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", awsapi.SecretKey)

	runDoctor := func(args ...string) (string, int) {
		var out, errs bytes.Buffer
		args = append([]string{"--kubeconfig", file, "--region", "us-west-2", "--interruption-queue", "demo"}, args...)
		status := verb.Run(t.Context(), doctor.Command(func(string) string { return "" }, "test"), args, verb.Streams{Out: &out, Err: &errs})
		return out.String() + errs.String(), status
	}
	if out, status := runDoctor("--cluster-name", "demo"); status != verb.OK || !strings.Contains(out, "\n0 errors, ") || !strings.Contains(out, "EC2NodeClass/doctored") {
		t.Errorf("all is well, and the status is %d:\n%s", status, out)
	}
	account.Rules.Add(fault.Rule{Action: "DescribeSecurityGroups", Kind: fault.Deny})
	out, status := runDoctor("--cluster-name", "demo", "-o", "json")
	var report doctor.Report
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&report); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if status != verb.Failed || !slices.ContainsFunc(report[0].Findings, func(f examine.Finding) bool {
		return f.Level == examine.Bad && f.Check == "ec2:DescribeSecurityGroups" && f.Fix != ""
	}) {
		t.Errorf("a permission is missing, and the status is %d:\n%s", status, out)
	}
	if out, status := runDoctor("--cluster-name", "dmeo"); status != verb.Failed || !strings.Contains(out, "cluster: EKS has no cluster dmeo in us-west-2") {
		t.Errorf("the cluster's name is misspelt, and the status is %d:\n%s", status, out)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := clientcmd.WriteToFile(*clientcmdapi.NewConfig(), empty); err != nil {
		t.Fatal(err)
	}
	if out, status := runDoctor("--cluster-name", "demo", "--kubeconfig", empty); status != verb.Unusable || !strings.Contains(out, "this kubeconfig names no cluster") {
		t.Errorf("the kubeconfig is empty, and the status is %d: %s", status, out)
	}
	closed := clientcmdapi.NewConfig()
	closed.Clusters["c"], closed.Contexts["c"], closed.CurrentContext = &clientcmdapi.Cluster{Server: "https://127.0.0.1:9"}, &clientcmdapi.Context{Cluster: "c"}, "c"
	if err := clientcmd.WriteToFile(*closed, empty); err != nil {
		t.Fatal(err)
	}
	const want = "doctor: list what is in the cluster: Get \"https://127.0.0.1:9/api\": dial tcp 127.0.0.1:9: connect: connection refused; see whether `kubectl get nodes` reaches it with the same kubeconfig"
	if out, status := runDoctor("--cluster-name", "demo", "--kubeconfig", empty); status != verb.Failed || strings.TrimSpace(out) != want {
		t.Errorf("the cluster does not answer, and the status is %d: %s", status, out)
	}
	if out, status := runDoctor(); status != verb.Unusable || !strings.Contains(out, "CLUSTER_NAME") {
		t.Errorf("without a name of the cluster the status is %d: %s", status, out)
	}
}

package charts_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/playground/charts"
)

// Helm itself is the judge: what it can pull both ways is a repository.
func TestHelmPullsEveryVersion(t *testing.T) {
	binary, err := kube.Find()
	switch {
	case errors.Is(err, kube.ErrMissing) && os.Getenv("CI") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	r, err := charts.New(os.DirFS("../../../charts"), "v0.27.3")
	if err != nil {
		t.Fatal(err)
	}
	address, stop, err := r.Serve()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	home := t.TempDir()
	helm := func(args ...string) (string, error) {
		cmd := exec.Command(binary)
		cmd.Args = append([]string{"helm"}, args...)
		cmd.Env = kube.Environment(home)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := helm("repo", "add", "karpenter", "http://"+address+"/"); err != nil {
		t.Fatal(err, out)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"the newest":     {[]string{"karpenter/karpenter"}, "version: "},
		"an old one":     {[]string{"karpenter/karpenter", "--version", "v0.27.3"}, "version: v0.27.3"},
		"the kinds":      {[]string{"karpenter/karpenter-crd"}, "name: karpenter-crd"},
		"a registry":     {[]string{"oci://" + address + "/karpenter/karpenter", "--plain-http", "--version", "v0.22.1"}, "version: v0.22.1"},
		"without a v":    {[]string{"oci://" + address + "/karpenter/karpenter", "--plain-http", "--version", "1.14.0"}, "version: 1.14.0"},
		"another folder": {[]string{"oci://" + address + "/karpenter", "--plain-http", "--version", "1.14.0"}, "version: 1.14.0"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := helm(append([]string{"show", "chart"}, c.args...)...)
			if err != nil || !strings.Contains(out, c.want) {
				t.Errorf("helm show chart %s: %v, want %q in\n%s", strings.Join(c.args, " "), err, c.want, out)
			}
		})
	}
	if out, err := helm("show", "chart", "oci://"+address+"/karpenter/other", "--plain-http", "--version", "1.0.0"); err == nil {
		t.Errorf("a chart that there is not: %s", out)
	}
	if out, err := helm("template", "x", "oci://"+address+"/karpenter/karpenter", "--plain-http", "--version", "v0.22.1", "--set", "settings.aws.clusterName=c"); err != nil || !strings.Contains(out, "kind: Deployment") {
		t.Errorf("template: %v\n%.500s", err, out)
	}
}

func TestADirectoryWithoutCharts(t *testing.T) {
	if _, err := charts.New(os.DirFS(t.TempDir())); err == nil || !strings.Contains(err.Error(), "there is no chart") {
		t.Errorf("got %v", err)
	}
}

package verb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A kubeconfig that cannot be used is told from one that is not there, in words of the file and not of the library that reads it.
func TestCluster(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good", `{apiVersion: v1, kind: Config, current-context: here,
clusters: [{name: a, cluster: {server: "https://a:1"}}, {name: b, cluster: {server: "https://b:2"}}],
contexts: [{name: here, context: {cluster: a, user: u}}, {name: there, context: {cluster: b, user: u}}],
users: [{name: u, user: {token: x}}]}`)
	for name, tc := range map[string]struct {
		env  string
		from Cluster
		want string // the host, or what is wrong
	}{
		"Current":     {"", Cluster{Kubeconfig: good}, "https://a:1"},
		"Context":     {"", Cluster{Kubeconfig: good, Context: "there"}, "https://b:2"},
		"Environment": {good, Cluster{Context: "there"}, "https://b:2"},
		"NoContext":   {good, Cluster{Context: "thre"}, `the kubeconfig has no context "thre": it has here, there`},
		"NoneAtAll":   {file("bare", "{apiVersion: v1, kind: Config}"), Cluster{Context: "x"}, `the kubeconfig has no context "x": it has none`},
		"None":        {"", Cluster{}, "there is no kubeconfig that names a cluster, neither by --kubeconfig, nor by KUBECONFIG, nor in ~/.kube/config; give one, or files with -f"},
		"Empty":       {"", Cluster{Kubeconfig: file("empty", "")}, dir + "/empty: this kubeconfig names no cluster: it has no current context; give another, or files with -f"},
		"Missing":     {"", Cluster{Kubeconfig: dir + "/nope"}, "read kubeconfig " + dir + "/nope: no such file or directory; give another kubeconfig, or files with -f"},
		"Folder":      {"", Cluster{Kubeconfig: dir}, "read kubeconfig " + dir + ": is a directory; give another kubeconfig, or files with -f"},
		"Service":     {"", Cluster{Kubeconfig: file("service", "{apiVersion: v1, kind: Service}")}, dir + "/service is of another kind than a kubeconfig, which is a document of apiVersion v1 and kind Config; give another kubeconfig, or files with -f"},
		"Binary":      {"", Cluster{Kubeconfig: file("binary", "\xff\xfe\x00")}, dir + "/binary is not a kubeconfig, which is a document of apiVersion v1 and kind Config: "},
		"BrokenUsual": {file("text", "no: [yaml"), Cluster{}, dir + "/text is not a kubeconfig, "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tc.env)
			config, err := tc.from.Connect(", or files with -f")
			var got string
			switch {
			case err == nil:
				got = config.Host
			case Status(err) != Unusable:
				t.Errorf("the status is %d", Status(err))
				fallthrough
			default:
				got = err.Error()
			}
			if got != tc.want && !(strings.HasSuffix(tc.want, " ") && strings.HasPrefix(got, tc.want)) || strings.Contains(got, "scheme") {
				t.Errorf("it says %q\nwant    %q", got, tc.want)
			}
		})
	}
}

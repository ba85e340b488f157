package pki

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

func ensure(t *testing.T, dir string) Files {
	t.Helper()
	f, err := Ensure(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCertificatesAreOfTheAuthority(t *testing.T) {
	f := ensure(t, t.TempDir())
	ca, err := os.ReadFile(f.CA)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		t.Fatal("the authority's certificate cannot be read")
	}
	for name, c := range map[string]struct {
		pair  Pair
		use   x509.ExtKeyUsage
		group string
	}{
		"server":       {f.Server, x509.ExtKeyUsageServerAuth, ""},
		"front proxy":  {f.FrontProxy, x509.ExtKeyUsageClientAuth, ""},
		"admin":        {f.Admin, x509.ExtKeyUsageClientAuth, "system:masters"},
		"scheduler":    {f.Scheduler, x509.ExtKeyUsageClientAuth, ""},
		"controllers":  {f.Controllers, x509.ExtKeyUsageClientAuth, ""},
		"the machines": {f.Machines, x509.ExtKeyUsageClientAuth, "system:masters"},
	} {
		pair, err := tls.LoadX509KeyPair(c.pair.Cert, c.pair.Key)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{c.use}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if o := pair.Leaf.Subject.Organization; c.group == "" && len(o) > 0 || c.group != "" && (len(o) != 1 || o[0] != c.group) {
			t.Errorf("%s is in the groups %v, want %q", name, o, c.group)
		}
	}
}

func TestWhatIsThereStays(t *testing.T) {
	dir := t.TempDir()
	read := func() string {
		text, err := os.ReadFile(ensure(t, dir).CA)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := read()
	if read() != first {
		t.Error("a second run has another authority: kubeconfigs of the first are worthless")
	}
	if err := os.Remove(filepath.Join(dir, "complete")); err != nil {
		t.Fatal(err)
	}
	if read() == first {
		t.Error("what a run left that died half way was taken for good")
	}
}

func TestKubeconfigHoldsAllItNeeds(t *testing.T) {
	f := ensure(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := f.WriteKubeconfig(file, "https://127.0.0.1:1", f.Admin); err != nil {
		t.Fatal(err)
	}
	c, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	if c.Host != "https://127.0.0.1:1" || len(c.CAData) == 0 || len(c.CertData) == 0 || len(c.KeyData) == 0 {
		t.Errorf("got %v", c)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v, %v", info.Mode(), err)
	}
}

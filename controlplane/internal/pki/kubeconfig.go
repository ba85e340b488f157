package pki

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// WriteKubeconfig writes a kubeconfig that speaks to url as the holder of p. Everything it needs is inside, so it
// can be copied; it appears in one step, so a process that waits for the file finds it whole.
func (f Files) WriteKubeconfig(file, url string, p Pair) error {
	c := api.NewConfig()
	const name = "tenon"
	ca, err := os.ReadFile(f.CA)
	if err != nil {
		return err
	}
	cert, err := os.ReadFile(p.Cert)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(p.Key)
	if err != nil {
		return err
	}
	c.Clusters[name] = &api.Cluster{Server: url, CertificateAuthorityData: ca}
	c.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	c.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	c.CurrentContext = name
	out, err := clientcmd.Write(*c)
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", file, err)
	}
	half := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".new")
	if err := os.WriteFile(half, out, 0o600); err != nil {
		return err
	}
	return os.Rename(half, file)
}

package bootstrap

import "strings"

// windows is a PowerShell script that calls the one on the image which joins the cluster.
func windows(n Node) string {
	var b strings.Builder
	b.WriteString("<powershell>\n")
	if own := bare(n.Own); own != "" {
		b.WriteString(own + "\n")
	}
	b.WriteString("[string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n")
	b.WriteString("& $EKSBootstrapScriptFile -EKSClusterName " + quotePS(n.Cluster.Name) +
		" -APIServerEndpoint " + quotePS(n.Cluster.Endpoint) + " -Base64ClusterCA " + quotePS(n.Cluster.CA))
	if dns := n.dns(); len(dns) > 0 {
		b.WriteString(" -DNSClusterIP " + quotePS(dns[0]))
	}
	if args := n.kubeletArgs(); args != "" {
		b.WriteString(" -KubeletExtraArgs " + quotePS(args))
	}
	b.WriteString("\n</powershell>")
	return b.String()
}

// bare takes the tags off a script that came with them.
func bare(s string) string {
	s = strings.TrimSpace(s)
	s = strings.TrimPrefix(s, "<powershell>")
	s = strings.TrimSuffix(s, "</powershell>")
	return strings.TrimSpace(s)
}

func quotePS(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

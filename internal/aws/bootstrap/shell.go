package bootstrap

import "strings"

// shell is what AL2, Ubuntu and images made like them run: a script that calls
// the one on the image which configures the kubelet.
func shell(n Node) (string, error) {
	own, err := ownParts(n.Own, shellType)
	if err != nil {
		return "", err
	}
	return archive(append(own, part{contentType: shellType, body: script(n)}))
}

// script is one command over several lines, each but the last ending in a backslash.
func script(n Node) string {
	lines := []string{
		"/etc/eks/bootstrap.sh " + quote(n.Cluster.Name) +
			" --apiserver-endpoint " + quote(n.Cluster.Endpoint) + " --b64-cluster-ca " + quote(n.Cluster.CA),
	}
	add := func(ok bool, line string) {
		if ok {
			lines = append(lines, line)
		}
	}
	dns, args := n.dns(), n.kubeletArgs()
	hasDNS := len(dns) > 0
	add(n.ipv6(), "--ip-family ipv6")
	if !n.Legacy {
		add(hasDNS, "--dns-cluster-ip "+quote(first(dns)))
	}
	add(n.Kubelet.MaxPods != nil, "--use-max-pods false")
	add(n.Legacy, "--container-runtime containerd")
	add(args != "", "--kubelet-extra-args "+quote(args))
	add(n.RAID0, "--local-disks raid0")
	if n.Legacy {
		add(hasDNS, "--dns-cluster-ip "+quote(first(dns)))
	}
	return "#!/bin/bash -xe\n" +
		"exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n" +
		strings.Join(lines, " \\\n")
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// quote makes one word of a shell command, whatever is in it.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

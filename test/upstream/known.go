package main

// A difference is a spec that asks for what Tenon does otherwise on purpose.
type difference struct{ text, adr, why string }

// differences are those that an ADR decides.
func differences() []difference {
	return []difference{{
		text: "Drift should update the nodepool-hash annotation on the nodepool and nodeclaim when the nodepool's nodepool-hash-version annotation does not match the controller hash version",
		adr:  "[0009](adr/0009-compatibility.md)", why: "the hash annotations carry Tenon's own version",
	}}
}

// failing are specs that are known to fail, and why.
func failing() map[string]string {
	return map[string]string{
		"Drift Failure should not disrupt a drifted node if the replacement node never registers":                 "a replacement that comes to nothing is waited for longer than ten minutes",
		"Drift Failure should not disrupt a drifted node if the replacement node registers but never initialized": "a replacement that comes to nothing is waited for longer than ten minutes",
		"Drift Failure should not drift any nodes if their PodDisruptionBudgets are unhealthy":                    "the playground's kubelet makes pods ready that the spec marks as unhealthy",
	}
}

// known is what is known of a failure, for the page.
func known(text string) string {
	if why := failing()[text]; why != "" {
		return ": " + why
	}
	return ""
}

// expected reports whether it is known that a spec fails.
func expected(s spec) bool {
	for _, d := range differences() {
		if d.text == s.Text {
			return true
		}
	}
	return failing()[s.Text] != ""
}

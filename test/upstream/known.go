package main

import "slices"

// A difference is a spec that asks for what Tenon does otherwise on purpose.
type difference struct{ text, adr, why string }

// differences are those that an ADR decides.
func differences() []difference {
	return []difference{{
		text: "Drift should update the nodepool-hash annotation on the nodepool and nodeclaim when the nodepool's nodepool-hash-version annotation does not match the controller hash version",
		adr:  "[0009](adr/0009-compatibility.md)", why: "the hash annotations carry Tenon's own version",
	}}
}

// expected reports whether a spec asks for what Tenon does otherwise.
func expected(s spec) bool {
	return slices.ContainsFunc(differences(), func(d difference) bool { return d.text == s.Text })
}

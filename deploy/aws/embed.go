// Package aws holds what an account needs before the controller can work in it, for those who install without a clone.
package aws

import _ "embed"

//go:embed cloudformation.yaml
var cloudFormation []byte

// CloudFormation is the template of the stack.
func CloudFormation() []byte { return cloudFormation }

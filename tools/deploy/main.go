// Command deploy writes the parts of deploy/aws that follow from the calls the
// driver declares: the IAM policy of the controller, and the CloudFormation template with it.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-sh/tenon/internal/aws/access"
)

//go:generate go run . ../../deploy/aws

//go:embed cloudformation.yaml
var stack string

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Usage: go run ./tools/deploy <folder>")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	doc, err := policy(access.Calls())
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"iam/controller-policy.json": string(doc),
		"cloudformation.yaml":        formation(string(doc)),
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// formation puts the policy into the template, with CloudFormation's names for what it depends on.
func formation(policy string) string {
	policy = strings.NewReplacer(
		partition, "${AWS::Partition}", region, "${AWS::Region}", account, "${AWS::AccountId}", cluster, "${ClusterName}",
	).Replace(strings.TrimSpace(policy))
	const made = "# Made by tools/deploy: `make generate`.\n"
	return made + strings.Replace(stack, "        POLICY", "        "+strings.ReplaceAll(policy, "\n", "\n        "), 1)
}

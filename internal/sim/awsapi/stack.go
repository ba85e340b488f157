package awsapi

import (
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// stackOps is every CloudFormation action the account serves. The account was made as if by the stack
// Karpenter-<cluster>: deploying it again finds no changes, deleting it takes away what it holds.
func stackOps() map[string]queryOp {
	return map[string]queryOp{
		"CreateChangeSet":    createChangeSet,
		"DeleteStack":        deleteStack,
		"DescribeChangeSet":  describeChangeSet,
		"DescribeStacks":     describeStacks,
		"GetTemplateSummary": getTemplateSummary,
	}
}

// stackName is the name of the account's only stack.
func (a *Account) stackName() string { return "Karpenter-" + a.cfg.ClusterName }

// stack checks that a call is about the stack there is, and that it still is.
func stack(c *call) error {
	name := c.form.Get("StackName")
	if name != c.account.stackName() && !strings.Contains(name, ":stack/"+c.account.stackName()+"/") {
		return noStack(name)
	}
	if _, err := c.market.Role("KarpenterNodeRole-" + c.account.cfg.ClusterName); err != nil {
		return noStack(name)
	}
	return nil
}

func noStack(name string) error {
	return market.Errorf("ValidationError", "Stack with id %s does not exist", name)
}

func (c *call) stackARN() string {
	return arn(c, "cloudformation", "stack/"+c.account.stackName()+"/00000000-0000-0000-0000-000000000001")
}

// describeStacks describes the stack that is named, or whichever there is.
func describeStacks(c *call) ([]node, error) {
	all := c.form.Get("StackName") == ""
	if all {
		c.form.Set("StackName", c.account.stackName())
	}
	if err := stack(c); err != nil {
		if all { // it was deleted
			return []node{members("Stacks", []string{}, func(string) []node { return nil })}, nil
		}
		return nil, err
	}
	made, err := c.market.Cluster(c.account.cfg.ClusterName)
	if err != nil {
		return nil, err
	}
	return []node{members("Stacks", []string{c.account.stackName()}, func(name string) []node {
		parameter := []node{txt("ParameterKey", "ClusterName"), txt("ParameterValue", c.account.cfg.ClusterName)}
		return []node{
			txt("StackName", name), txt("StackId", c.stackARN()), txt("StackStatus", "CREATE_COMPLETE"), txt("CreationTime", made.Created.UTC().Format(time.RFC3339)),
			members("Parameters", [][]node{parameter}, func(n []node) []node { return n }),
			members("Capabilities", []string{"CAPABILITY_NAMED_IAM"}, func(string) []node { return nil }),
		}
	})}, nil
}

// getTemplateSummary names the parameter that the stack's template has.
func getTemplateSummary(*call) ([]node, error) {
	return []node{members("Parameters", []string{"ClusterName"}, func(name string) []node {
		return []node{txt("ParameterKey", name), txt("ParameterType", "String")}
	})}, nil
}

func createChangeSet(c *call) ([]node, error) {
	if err := stack(c); err != nil {
		return nil, err
	}
	return []node{txt("Id", arn(c, "cloudformation", "changeSet/"+c.form.Get("ChangeSetName")+"/00000000-0000-0000-0000-000000000002")), txt("StackId", c.stackARN())}, nil
}

func describeChangeSet(c *call) ([]node, error) {
	return []node{
		txt("ChangeSetName", c.form.Get("ChangeSetName")), txt("StackName", c.account.stackName()), txt("StackId", c.stackARN()),
		txt("ExecutionStatus", "UNAVAILABLE"), txt("Status", "FAILED"),
		txt("StatusReason", "The submitted information didn't contain changes. Submit different information to create a change set."),
	}, nil
}

// deleteStack removes the roles, the profile, the policy and the queue. As in AWS, a stack that is not there is no error,
// and the role cannot go while a profile of another's has it. There AWS leaves a stack that is half deleted, and says so in its status; here nothing is removed.
func deleteStack(c *call) ([]node, error) {
	if stack(c) != nil {
		return nil, nil
	}
	name := c.account.cfg.ClusterName
	role, profile := "KarpenterNodeRole-"+name, "KarpenterNodeInstanceProfile-"+name
	held, err := c.market.Role(role)
	if err != nil {
		return nil, nil
	}
	for _, p := range c.market.Profiles("") {
		if p.Name != profile && slices.Contains(p.Roles, role) {
			return nil, market.Errorf(market.DeleteConflict, "Cannot delete entity, must remove roles from instance profile first. %s is in %s: while the controller runs, it deletes that with the EC2NodeClass", role, p.Name)
		}
	}
	// What someone removed by hand before is no longer there to remove: those errors say just that.
	_ = c.market.RemoveRoleFromProfile(profile, role)
	_ = c.market.DeleteProfile(profile)
	for _, p := range held.Policies {
		_ = c.market.DetachPolicy(role, p)
	}
	_ = c.market.DetachPolicy(c.account.ControllerRole(), c.account.ControllerPolicy())
	_ = c.market.DeletePolicy(c.account.ControllerPolicy())
	c.market.DeleteQueue(name)
	return nil, c.market.DeleteRole(role)
}

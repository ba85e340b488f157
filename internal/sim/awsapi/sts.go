package awsapi

import (
	"cmp"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// stsOps is every STS action the account serves.
func stsOps() map[string]queryOp {
	return map[string]queryOp{
		"AssumeRole":                assumeRole,
		"AssumeRoleWithWebIdentity": assumeRoleWithWebIdentity,
		"GetCallerIdentity":         getCallerIdentity,
	}
}

func getCallerIdentity(c *call) ([]node, error) {
	return []node{txt("Arn", c.caller.arn), txt("UserId", c.caller.id), txt("Account", c.market.Account())}, nil
}

// sessionInput is what the ways to assume a role take; policies for the session are not evaluated and hence refused.
type sessionInput struct {
	RoleArn          string
	RoleSessionName  string
	WebIdentityToken string
	ProviderId       string
	ExternalId       string
	DurationSeconds  int
}

func assumeRole(c *call) ([]node, error) {
	var in sessionInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	return session(c, in)
}

func assumeRoleWithWebIdentity(c *call) ([]node, error) {
	var in sessionInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.WebIdentityToken == "" {
		return nil, market.Errorf("ValidationError", "1 validation error detected: Value null at 'webIdentityToken' failed to satisfy constraint: Member must not be null")
	}
	nodes, err := session(c, in)
	if err != nil {
		return nil, err
	}
	return append(nodes, txt("Audience", "sts.amazonaws.com"), txt("Provider", "arn:"+c.market.Partition()+":iam::"+c.market.Account()+":oidc-provider/simulated")), nil
}

// session makes credentials that act as a role.
func session(c *call, in sessionInput) ([]node, error) {
	name := in.RoleArn[strings.LastIndex(in.RoleArn, "/")+1:]
	r, err := c.market.Role(name)
	if err != nil {
		return nil, market.Errorf("AccessDenied", "Not authorized to perform sts:%s", c.action)
	}
	key := c.account.grant(r.Name)
	ends := c.market.Now().Add(time.Duration(cmp.Or(in.DurationSeconds, 3600)) * time.Second)
	arn := "arn:" + c.market.Partition() + ":sts::" + c.market.Account() + ":assumed-role/" + r.Name + "/" + in.RoleSessionName
	return []node{
		el("Credentials", txt("AccessKeyId", key), txt("SecretAccessKey", SecretKey), txt("SessionToken", "simulated/"+key), moment("Expiration", ends)),
		el("AssumedRoleUser", txt("Arn", arn), txt("AssumedRoleId", r.ID+":"+in.RoleSessionName)),
	}, nil
}

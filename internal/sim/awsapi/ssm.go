package awsapi

import (
	"strings"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

type parameter struct {
	Name             string
	Type             string
	Value            string
	Version          int64
	LastModifiedDate float64
	ARN              string
	DataType         string
}

func parameterOf(c *call, p market.Parameter) parameter {
	kind := "text"
	if strings.HasPrefix(p.Value, "ami-") {
		kind = "aws:ec2:image"
	}
	owner := c.market.Account()
	if strings.HasPrefix(p.Name, "/aws/") {
		owner = ""
	}
	return parameter{
		Name: p.Name, Type: "String", Value: p.Value, Version: p.Version, LastModifiedDate: float64(p.Modified.UnixMilli()) / 1000, DataType: kind,
		ARN: "arn:" + c.market.Partition() + ":ssm:" + c.market.Region() + ":" + owner + ":parameter/" + strings.TrimPrefix(p.Name, "/"),
	}
}

// parameterName takes the name out of an ARN.
func parameterName(text string) string {
	if _, after, found := strings.Cut(text, ":parameter/"); found && strings.HasPrefix(text, "arn:") {
		return "/" + after
	}
	return text
}

func getParameter(c *call) (any, error) {
	var in struct{ Name string }
	if err := c.read(&in); err != nil {
		return nil, err
	}
	name := parameterName(in.Name)
	p, err := c.market.Parameter(name)
	if err != nil && strings.HasPrefix(in.Name, "arn:") { // a parameter outside any path has no slash of its own
		p, err = c.market.Parameter(strings.TrimPrefix(name, "/"))
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"Parameter": parameterOf(c, p)}, nil
}

func getParameters(c *call) (any, error) {
	var in struct{ Names []string }
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if len(in.Names) > 10 {
		return nil, market.Errorf("ValidationException", "1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length less than or equal to 10")
	}
	found, unknown := []parameter{}, []string{}
	for _, n := range in.Names {
		p, err := c.market.Parameter(parameterName(n))
		if err != nil {
			unknown = append(unknown, n)
			continue
		}
		found = append(found, parameterOf(c, p))
	}
	return map[string]any{"Parameters": found, "InvalidParameters": unknown}, nil
}

func getParametersByPath(c *call) (any, error) {
	var in struct {
		Path       string
		Recursive  bool
		MaxResults int
		NextToken  string
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	under := strings.TrimSuffix(in.Path, "/") + "/"
	found := []parameter{}
	for _, p := range c.market.Parameters() {
		rest, inside := strings.CutPrefix(p.Name, under)
		if inside && (in.Recursive || !strings.Contains(rest, "/")) {
			found = append(found, parameterOf(c, p))
		}
	}
	page, next, err := cut(found, pages{least: 1, most: 10, usual: 10}, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"Parameters": page}
	if next != "" {
		out["NextToken"] = next
	}
	return out, nil
}

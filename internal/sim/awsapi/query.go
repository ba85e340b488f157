package awsapi

import "net/http"

// The namespaces of the query services' answers.
const (
	ec2Namespace = "http://ec2.amazonaws.com/doc/2016-11-15/"
	iamNamespace = "https://iam.amazonaws.com/doc/2010-05-08/"
	cfnNamespace = "http://cloudformation.amazonaws.com/doc/2010-05-15/"
	sqsNamespace = "http://queue.amazonaws.com/doc/2012-11-05/"
	stsNamespace = "https://sts.amazonaws.com/doc/2011-06-15/"
)

// ec2Op does one EC2 action and returns the content of its answer.
type ec2Op func(*call) ([]node, error)

// queryOp does one action of IAM or STS.
type queryOp func(*call) ([]node, error)

func (s *Server) answerEC2(c *call) (answer, error) {
	op, ok := s.ec2[c.action]
	if !ok {
		return answer{}, unknown(c)
	}
	nodes, err := op(c)
	if err != nil {
		return answer{}, err
	}
	nodes = append([]node{txt("requestId", c.id)}, nodes...)
	return answer{status: http.StatusOK, kind: "text/xml;charset=UTF-8", body: document(c.action+"Response", ec2Namespace, nodes...)}, nil
}

func answerQuery(c *call, ops map[string]queryOp, namespace string) (answer, error) {
	op, ok := ops[c.action]
	if !ok {
		return answer{}, unknown(c)
	}
	nodes, err := op(c)
	if err != nil {
		return answer{}, err
	}
	result := node{name: c.action + "Result", kids: nodes, keep: true}
	meta := el("ResponseMetadata", txt("RequestId", c.id))
	return answer{status: http.StatusOK, kind: "text/xml", body: document(c.action+"Response", namespace, result, meta)}, nil
}

// decode reads the call's parameters. A dry run is remembered for the record.
func (c *call) decode(into any) error {
	c.dry = c.form.Get("DryRun") == "true"
	return decode(c.form, into)
}

package awsapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// queueForm is queueInput as older clients send it.
type queueForm struct {
	QueueName                      string
	QueueUrl                       string
	MessageBody                    string
	ReceiptHandle                  string
	MaxNumberOfMessages            *int
	VisibilityTimeout              *int
	WaitTimeSeconds                int
	AttributeName                  []string
	MessageSystemAttributeName     []string
	DeleteMessageBatchRequestEntry []struct{ Id, ReceiptHandle string }
	SendMessageBatchRequestEntry   []struct{ Id, MessageBody string }
}

// answerQueue answers an SQS call that came as a form: the same actions, written as XML.
func (s *Server) answerQueue(c *call) (answer, error) {
	op, ok := s.json["AmazonSQS."+c.action]
	if !ok {
		return answer{}, unknown(c)
	}
	var form queueForm
	if err := c.decode(&form); err != nil {
		return answer{}, err
	}
	in := queueInput{
		QueueName: form.QueueName, QueueUrl: form.QueueUrl, MessageBody: form.MessageBody, ReceiptHandle: form.ReceiptHandle,
		MaxNumberOfMessages: form.MaxNumberOfMessages, VisibilityTimeout: form.VisibilityTimeout, WaitTimeSeconds: form.WaitTimeSeconds,
		AttributeNames: form.AttributeName, MessageSystemAttributeNames: form.MessageSystemAttributeName,
	}
	for _, e := range form.DeleteMessageBatchRequestEntry {
		in.Entries = append(in.Entries, queueEntry{Id: e.Id, ReceiptHandle: e.ReceiptHandle})
	}
	for _, e := range form.SendMessageBatchRequestEntry {
		in.Entries = append(in.Entries, queueEntry{Id: e.Id, MessageBody: e.MessageBody})
	}
	var err error
	if c.body, err = json.Marshal(in); err != nil {
		return answer{}, err
	}
	out, err := op(c)
	if err != nil {
		return answer{}, err
	}
	fields, _ := out.(map[string]any)
	result := node{name: c.action + "Result", kids: flatten(c.action, fields)}
	body := document(c.action+"Response", sqsNamespace, result, el("ResponseMetadata", txt("RequestId", c.id)))
	return answer{status: http.StatusOK, kind: "text/xml", body: body}, nil
}

// flatten writes the fields of an answer as this protocol does: lists and maps without an element around them.
func flatten(action string, fields map[string]any) []node {
	var out []node
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch v := fields[name].(type) {
		case map[string]string:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				out = append(out, el("Attribute", txt("Name", k), txt("Value", v[k])))
			}
		case []map[string]any:
			for _, m := range v {
				out = append(out, el("Message", flatten(action, m)...))
			}
		case []map[string]string:
			for _, m := range v {
				entry := node{name: action + "ResultEntry"}
				for _, k := range slices.Sorted(maps.Keys(m)) {
					entry.kids = append(entry.kids, txt(k, m[k]))
				}
				out = append(out, entry)
			}
		case string:
			out = append(out, txt(name, v))
		case []string: // Failed, of which there are none
		default:
			out = append(out, txt(name, fmt.Sprint(v)))
		}
	}
	return out
}

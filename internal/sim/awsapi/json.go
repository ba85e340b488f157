package awsapi

import (
	"encoding/json"
	"net/http"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// jsonOp does one action of a JSON service; what it returns is written as JSON.
type jsonOp func(*call) (any, error)

func jsonOps() map[string]jsonOp {
	return map[string]jsonOp{
		"AWSPriceListService.GetProducts":   getProducts,
		"AmazonSQS.ChangeMessageVisibility": changeMessageVisibility,
		"AmazonSQS.DeleteMessage":           deleteMessage,
		"AmazonSQS.DeleteMessageBatch":      deleteMessageBatch,
		"AmazonSQS.GetQueueAttributes":      getQueueAttributes,
		"AmazonSQS.GetQueueUrl":             getQueueURL,
		"AmazonSQS.ReceiveMessage":          receiveMessage,
		"AmazonSQS.SendMessage":             sendMessage,
		"AmazonSQS.SendMessageBatch":        sendMessageBatch,
		"AmazonSSM.GetParameter":            getParameter,
		"AmazonSSM.GetParameters":           getParameters,
		"AmazonSSM.GetParametersByPath":     getParametersByPath,
	}
}

func (s *Server) answerJSON(c *call) (answer, error) {
	op, ok := s.json[c.path]
	if !ok {
		return answer{}, unknown(c)
	}
	out, err := op(c)
	if err != nil {
		return answer{}, err
	}
	if out == nil {
		return answer{status: http.StatusOK, kind: jsonType(c.service), body: []byte("{}")}, nil
	}
	body, err := json.Marshal(out)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, kind: jsonType(c.service), body: body}, nil
}

// jsonType is the content type of a JSON service: SQS speaks version 1.0 of the protocol.
func jsonType(service string) string {
	if service == "sqs" {
		return "application/x-amz-json-1.0"
	}
	return "application/x-amz-json-1.1"
}

// read decodes a JSON request.
func (c *call) read(into any) error {
	if len(c.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, into); err != nil {
		return market.Errorf("SerializationException", "%s", err)
	}
	return nil
}

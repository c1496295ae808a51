package iam

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/mail"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

// place is the part of an ARN that contains the embedded AWS's region and account.
const place = ":us-east-1:000000000000:"

// arnOf returns the ARN for a name. The name may already be an ARN.
func arnOf(service, kind, name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return "arn:aws:" + service + place + kind + name
}

// queueNeeds returns the permissions that an SQS call requires. A batch requires the same permission as the
// corresponding single operation.
func queueNeeds(r *http.Request, c wire.Call) ([]need, error) {
	var in struct{ QueueURL, QueueName, SourceArn string }
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	action := "sqs:" + strings.TrimSuffix(c.Operation, "Batch")
	queue := "*"
	switch {
	case in.QueueURL != "":
		queue = arnOf("sqs", "", in.QueueURL[strings.LastIndexByte(in.QueueURL, '/')+1:])
	case in.QueueName != "":
		queue = arnOf("sqs", "", in.QueueName)
	case in.SourceArn != "":
		queue = in.SourceArn
	}
	needs := []need{{action: action, resource: queue}}
	if c.Operation == "StartMessageMoveTask" { // moving messages also receives and deletes them
		for _, also := range []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"} {
			needs = append(needs, need{action: also, resource: queue})
		}
	}
	return needs, nil
}

// mailNeeds returns the permissions that an SES call requires. The resource is the sending identity, which is an
// address or the address's domain.
func mailNeeds(r *http.Request, c wire.Call) ([]need, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	source := r.PostForm.Get("Source")
	if parsed, err := mail.ParseAddress(source); err == nil {
		source = parsed.Address
	}
	n := need{action: "ses:" + c.Operation, resource: arnOf("ses", "identity/", source)}
	if _, domain, ok := strings.Cut(source, "@"); ok {
		n.others = []string{arnOf("ses", "identity/", domain)}
	}
	return []need{n}, nil
}

// secretNeeds returns the permissions that a Secrets Manager call requires. AWS appends a hyphen and six characters to
// the secret's name in the ARN. Calls and the ARNs in a local template may omit this suffix.
func secretNeeds(r *http.Request, c wire.Call) ([]need, error) {
	var in struct{ SecretID, Name string }
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	n := need{action: "secretsmanager:" + c.Operation, resource: arnOf("secretsmanager", "secret:", in.SecretID+in.Name)}
	if cut := len(n.resource) - 7; strings.HasPrefix(in.SecretID, "arn:") && cut > 0 && n.resource[cut] == '-' {
		n.others = []string{n.resource[:cut]}
	} else {
		n.others = []string{n.resource + "-??????"}
	}
	return []need{n}, nil
}

func parameterNeeds(r *http.Request, c wire.Call) ([]need, error) {
	var in struct{ Name string }
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	n := need{action: "ssm:" + c.Operation, resource: "*"}
	if in.Name != "" {
		n.resource = arnOf("ssm", "parameter/", strings.TrimPrefix(in.Name, "/"))
	}
	return []need{n}, nil
}

// decode decodes r's JSON body into v without consuming the body. Unknown fields are ignored.
func decode(r *http.Request, v any) error {
	content, err := wire.Body(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, v); err != nil {
		return fmt.Errorf("decode the body: %w", err)
	}
	return nil
}

package main

import (
	"slices"
	"strings"

	"recordbridge/infra/local/template"
)

// verbs maps frequent IAM actions to short names. Actions that verbs omits keep their own names.
var verbs = map[string]string{
	"dynamodb:GetItem": "read", "dynamodb:BatchGetItem": "read", "dynamodb:Query": "query", "dynamodb:PutItem": "put",
	"dynamodb:UpdateItem": "update", "dynamodb:DeleteItem": "delete", "dynamodb:ConditionCheckItem": "check",
	"kms:GenerateDataKey": "seal", "kms:Decrypt": "open", "kms:Sign": "sign", "kms:GetPublicKey": "public key",
	"s3:GetObject": "read", "s3:PutObject": "put", "s3:DeleteObject": "delete", "s3:ListBucket": "list",
	"secretsmanager:GetSecretValue": "", "ssm:GetParameter": "", "ses:SendEmail": "send", "sqs:SendMessage": "send",
}

// ignored lists the actions that every function may perform and those required to consume a queue.
var ignored = []string{"logs:", "xray:", "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}

// namesOf maps each resource's ARN to the resource's name in the template. Table names omit the suffix "Table".
func namesOf(t *template.Template) map[string]string {
	names := map[string]string{}
	for _, r := range t.Tables {
		names[r.ARN] = strings.TrimSuffix(r.LogicalID, "Table")
	}
	for _, r := range t.Queues {
		names[r.ARN] = r.LogicalID
	}
	for _, r := range t.Buckets {
		names[r.ARN] = r.LogicalID
	}
	for _, r := range t.Keys {
		names[r.ARN] = r.LogicalID
	}
	for _, r := range t.Secrets {
		names[r.ARN] = r.LogicalID
	}
	return names
}

// touched lists the permissions of a function's role by resource, in the order of the role's statements. Most functions
// write to the request log, as to their own logs, so touched omits these writes.
func touched(f template.Function, names map[string]string) string {
	var order []string
	allowed := map[string][]string{}
	for _, s := range f.Statements {
		for _, action := range s.Actions {
			verb, shown := verbOf(action)
			if !shown {
				continue
			}
			for _, arn := range s.Resources {
				name := resource(arn, names)
				if allowed[name] == nil {
					order = append(order, name)
				}
				if !slices.Contains(allowed[name], verb) {
					allowed[name] = append(allowed[name], verb)
				}
			}
		}
	}
	for i, name := range order {
		order[i] = strings.TrimSpace(name + " " + strings.Join(allowed[name], ", "))
	}
	order = slices.DeleteFunc(order, func(entry string) bool { return entry == "RequestLog put" })
	return strings.Join(order, "; ")
}

// verbOf returns an action's short name. shown is false if the table omits the action.
func verbOf(action string) (verb string, shown bool) {
	if slices.ContainsFunc(ignored, func(prefix string) bool { return strings.HasPrefix(action, prefix) }) {
		return "", false
	}
	verb, known := verbs[action]
	if !known {
		_, verb, _ = strings.Cut(action, ":")
	}
	return verb, true
}

// resource returns the template's name for the resource with the given ARN, or the ARN's last part if the template has
// no such resource.
func resource(arn string, names map[string]string) string {
	for whole := arn; whole != ""; {
		if name, ok := names[whole]; ok {
			return name
		}
		whole = whole[:max(strings.LastIndexAny(whole, "/"), 0)]
	}
	switch {
	case strings.HasPrefix(arn, "arn:aws:ses:"):
		return "SES"
	case strings.HasPrefix(arn, "arn:aws:ssm:"):
		return "parameter " + arn[strings.LastIndex(arn, "/")+1:]
	}
	return arn[strings.LastIndexAny(arn, "/:")+1:]
}

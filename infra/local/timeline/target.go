package timeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// parameters holds the request fields that identify a call's target.
type parameters struct {
	TableName, IndexName string
	RequestItems         map[string]json.RawMessage
	TransactItems        []map[string]struct{ TableName string }
	QueueURL             string `json:"QueueUrl"`
	SourceARN            string `json:"SourceArn"`
	KeyID                string `json:"KeyId"`
	SecretID             string `json:"SecretId"`
	Name                 string
}

// targetOf identifies a call's target without including content such as row keys, values or messages.
func targetOf(service string, r *http.Request, body []byte) string {
	if service == "s3" {
		return strings.TrimPrefix(unescaped(r), "/")
	}
	var p parameters
	if service == "ses" || json.Unmarshal(body, &p) != nil {
		return ""
	}
	switch service {
	case "dynamodb":
		return p.tables()
	case "sqs":
		if p.QueueURL != "" {
			return afterLast(p.QueueURL, "/")
		}
		return afterLast(p.SourceARN, ":")
	case "kms":
		return afterLast(p.KeyID, ":")
	default:
		return afterLast(p.SecretID+p.Name, ":")
	}
}

// tables returns the table that a call uses, followed by the index if there is one. For a batch or transaction, tables
// returns each table with its number of rows.
func (p *parameters) tables() string {
	switch {
	case p.IndexName != "":
		return p.TableName + " " + p.IndexName
	case p.TableName != "":
		return p.TableName
	}
	rows := map[string]int{}
	for _, element := range p.TransactItems {
		for _, action := range element {
			rows[action.TableName]++
		}
	}
	for table := range p.RequestItems {
		rows[table] = 0 // the request format varies between operations, so rows are not counted
	}
	names := make([]string, 0, len(rows))
	for _, table := range slices.Sorted(maps.Keys(rows)) {
		if n := rows[table]; n > 1 {
			table = fmt.Sprintf("%s (%d rows)", table, n)
		}
		names = append(names, table)
	}
	return strings.Join(names, ", ")
}

func afterLast(text, separator string) string { return text[strings.LastIndex(text, separator)+1:] }

// Package journey owns the table of what the product's journeys cost: the calls to AWS that each function makes in one
// of them, the units of DynamoDB that these use, and what is sent and waited for. Its figures are counted, not guessed:
// infra/test/e2e performs the journeys, and fails when the table says something else.
package journey

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
)

//go:embed calls.csv
var calls []byte

// The services of Cost that are none of AWS's own names.
const (
	// Lambda rows count invocations.
	Lambda = "lambda"
	// Logs rows have the bytes of log lines.
	Logs = "logs"
	// Outside rows count requests to servers that are not AWS's: health systems and webhooks.
	Outside = "outside"
)

// Cost is one row: what one journey needs of one operation.
type Cost struct {
	Journey   string
	Function  string // its folder; empty in rows of Outside and Logs
	Service   string // as wire.Call has it, or one of the constants
	Operation string
	// On is what the operation is for: the kind of a table's rows ("Work EVENT"), an index of it ("Work byDue"), a queue.
	On     string
	Calls  int
	Reads  float64 // read units of DynamoDB
	Writes float64 // write units of DynamoDB
	Bytes  int     // that were sent to S3, logged, or came from outside
	// Waits of Lambda is the time of the invocation, in seconds, when each server outside takes a second to answer and AWS
	// none: how many answers are waited for one after the other.
	Waits float64
}

// Table is the table, in the order of its file.
func Table() ([]Cost, error) {
	rows, err := csv.NewReader(bytes.NewReader(calls)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read the table of calls: %w", err)
	}
	table := make([]Cost, 0, len(rows))
	for _, row := range rows[1:] {
		c := Cost{Journey: row[0], Function: row[1], Service: row[2], Operation: row[3], On: row[4]}
		numbers := []float64{}
		for _, text := range row[5:] {
			number, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("read the table of calls: %s of %s: %w", c.Operation, c.Journey, err)
			}
			numbers = append(numbers, number)
		}
		c.Calls, c.Reads, c.Writes, c.Bytes, c.Waits = int(numbers[0]), numbers[1], numbers[2], int(numbers[3]), numbers[4]
		table = append(table, c)
	}
	return table, nil
}

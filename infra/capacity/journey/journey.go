// Package journey owns the cost table of the product's journeys. The table lists each function's AWS calls, the
// DynamoDB units consumed, the bytes transferred and the waiting time. All figures are counted, not estimated. The
// tests in infra/test/e2e perform the journeys and fail if the counts differ from the table.
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

// Additional values of Cost.Service, besides the service names of wire.Call.
const (
	// Lambda rows count function invocations.
	Lambda = "lambda"
	// Logs rows hold the number of bytes logged.
	Logs = "logs"
	// Outside rows count requests to servers outside AWS, such as health systems and webhook receivers.
	Outside = "outside"
)

// Cost is one row of the table: a single operation's share of a journey's cost.
type Cost struct {
	Journey   string
	Function  string // the function's folder; empty in Outside and Logs rows
	Service   string // a service as in wire.Call, or one of the constants
	Operation string
	// On is the operation's target: a table and row kind ("Work EVENT"), a table's index ("Work byDue"), or a queue.
	On     string
	Calls  int
	Reads  float64 // DynamoDB read units consumed
	Writes float64 // DynamoDB write units consumed
	Bytes  int     // bytes sent to S3, logged, or received from outside
	// Waits is a Lambda row's invocation time in seconds, assuming that AWS calls take no time and that each outside
	// server responds after one second. Only responses awaited in sequence are counted.
	Waits float64
}

// Table returns the rows in file order.
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

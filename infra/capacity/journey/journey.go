// Package journey holds the cost table of the product's typical uses, called journeys. For each function, the table
// lists AWS calls, DynamoDB units, bytes transferred and waiting time. All figures are counted, not estimated. The
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

// Values of Cost.Service that are not service names of wire.Call.
const (
	// Lambda rows count function invocations.
	Lambda = "lambda"
	// Logs rows hold the number of bytes logged.
	Logs = "logs"
	// Outside rows count requests to servers outside AWS, such as health systems and webhook receivers.
	Outside = "outside"
)

// Cost is a table row, which holds one operation's share of a journey's cost.
type Cost struct {
	Journey   string
	Function  string // function's folder; empty in Outside and Logs rows
	Service   string // service name as in wire.Call, or a constant above
	Operation string
	// On is the operation's target: a table and row kind ("Work EVENT"), a table's index ("Work byDue"), or a queue.
	On     string
	Calls  int
	Reads  float64
	Writes float64
	Bytes  int // bytes sent to S3, logged, or received from outside
	// Waits is a Lambda row's invocation time in seconds, assuming that AWS calls take no time and that outside servers
	// respond after one second. Only responses awaited in sequence are counted.
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

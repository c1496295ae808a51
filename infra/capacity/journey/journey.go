// Package journey holds a table of the costs of the product's typical uses, called journeys. For each function, the
// table lists AWS calls, DynamoDB units, bytes transferred and waiting time. All figures are counts, not estimates. The
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

// These values of Cost.Service are not service names used in wire.Call.
const (
	// Lambda marks rows that count function invocations.
	Lambda = "lambda"
	// Logs marks rows that contain the number of bytes logged.
	Logs = "logs"
	// Outside rows count requests to servers outside AWS, such as health systems and webhook receivers.
	Outside = "outside"
)

// Cost is a table row with one operation's share of a journey's cost.
type Cost struct {
	Journey   string
	Function  string // folder of the function; empty in rows for Outside and Logs
	Service   string // service name as in wire.Call, or one of the constants above
	Operation string
	// On contains the operation's target: a table and row type ("Work EVENT"), a table's index ("Work byDue") or a
	// queue.
	On     string
	Calls  int
	Reads  float64
	Writes float64
	Bytes  int // number of bytes sent to S3, logged or received from outside AWS
	// Waits is a Lambda row's invocation time in seconds, assuming that AWS calls take no time and servers outside AWS
	// respond after one second. Waits counts only responses that are awaited in sequence.
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

package main

import (
	"strings"

	"recordbridge/infra/capacity/journey"
)

// model computes what a load uses.
type model struct {
	stack   *stack
	table   []journey.Cost
	figures *figures
	load    load
}

// newModel reads all that a model is made of.
func newModel(l load, from deployment) (*model, error) {
	l.complete()
	s, err := readStack(from)
	if err != nil {
		return nil, err
	}
	table, err := journey.Table()
	if err != nil {
		return nil, err
	}
	f, err := readFigures()
	return &model{stack: s, table: table, figures: f, load: l}, err
}

// use is what a day's journeys use.
type use struct {
	invocations map[string]float64 // by function
	seconds     map[string]float64 // of all its invocations together
	calls       map[string]float64 // by service and operation: "kms Decrypt"
	reads       map[string]float64 // units, by the kind of the rows or the index: "Work byDue"
	writes      map[string]float64
	bytes       map[string]float64 // by service
}

// used adds up the journeys of a day, and the processes that start for them.
func (m *model) used(perDay map[string]float64) use {
	u := use{
		invocations: map[string]float64{}, seconds: map[string]float64{}, calls: map[string]float64{},
		reads: map[string]float64{}, writes: map[string]float64{}, bytes: map[string]float64{},
	}
	for _, c := range m.table {
		u.add(c, perDay[c.Journey], m)
	}
	for _, c := range m.table {
		if c.Journey == "cold start" {
			u.add(c, u.invocations[c.Function]*m.load.cold, m)
		}
	}
	return u
}

func (u use) add(c journey.Cost, times float64, m *model) {
	u.calls[c.Service+" "+c.Operation] += times * float64(c.Calls)
	u.reads[c.On] += times * c.Reads
	u.writes[c.On] += times * c.Writes
	u.bytes[c.Service] += times * float64(c.Bytes)
	switch {
	case c.Service == journey.Lambda:
		u.invocations[c.Function] += times * float64(c.Calls)
		u.seconds[c.Function] += times * (c.Waits*m.answerTo(c.Function) + float64(c.Calls)*m.figures.of("assumed.overhead"))
	case c.Function != "" && c.Service != journey.Logs && c.Operation != "ReceiveMessage" && c.Operation != "DeleteMessage": // which Lambda does
		u.seconds[c.Function] += times * float64(c.Calls) * m.figures.of("assumed.aws_call")
	}
}

// answerTo is how long a server outside takes that a function asks.
func (m *model) answerTo(function string) float64 {
	if function == "webhookworker" {
		return m.load.receiver
	}
	return m.load.answer
}

// requests are the invocations that come through the API.
func (m *model) requests(u use) float64 {
	sum := 0.0
	for _, f := range m.stack.Functions {
		if len(f.Routes) > 0 {
			sum += u.invocations[f.Folder]
		}
	}
	return sum
}

// of sums up what has one of some names.
func of(amounts map[string]float64, names ...string) float64 {
	sum := 0.0
	for _, name := range names {
		sum += amounts[name]
	}
	return sum
}

// beginning sums up what has a name with a prefix.
func beginning(amounts map[string]float64, prefix string) float64 {
	sum := 0.0
	for name, amount := range amounts {
		if strings.HasPrefix(name, prefix) {
			sum += amount
		}
	}
	return sum
}

// symmetric are the operations of KMS with the keys that encrypt.
func symmetric() []string { return []string{"kms Decrypt", "kms GenerateDataKey", "kms Encrypt"} }

// stored is how much the tables and the bucket hold, in GB.
func (m *model) stored() (tables, files float64) {
	days := map[string]float64{
		"Connection CONN": m.load.connections, "Connection byDue": m.load.connections, "Connection byOrg": m.load.connections,
		"Tokens CONN": m.load.connections, "Work LATEST": m.load.connections,
		"Work TASK":  m.load.exports * m.figures.of("own.task_days"),
		"Work EVENT": m.load.webhooks * m.figures.of("own.event_days"),
		"Work DELIV": m.load.webhooks * m.figures.of("own.event_days"),
	}
	days["Work byOrg"] = of(days, "Work TASK", "Work EVENT", "Work DELIV")
	const perRow = 100 // bytes that DynamoDB charges beside the attributes
	for _, c := range m.table {
		if c.Journey == "kept" {
			tables += days[c.On] * float64(c.Bytes+perRow)
		}
	}
	return tables / 1e9, m.used(m.load.journeys()).bytes["s3"] * m.stack.fileDays / 1e9
}

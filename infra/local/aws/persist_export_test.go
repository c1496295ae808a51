package aws

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Compact compacts the journal now.
func (c *Cloud) Compact() error { return c.journal.Compact(c.dump) }

// State is everything that the services hold, one record a line.
func (c *Cloud) State() (string, error) {
	var all bytes.Buffer
	err := c.dump(func(service string, record any) error {
		raw, err := json.Marshal(record)
		fmt.Fprintf(&all, "%s %s\n", service, raw)
		return err
	}, func() error { return nil })
	return all.String(), err
}

// Apply lets a record take effect, as a restart does.
func (c *Cloud) Apply(service string, record json.RawMessage) error { return c.replay(service, record) }

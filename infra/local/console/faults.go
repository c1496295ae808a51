package console

import (
	"encoding/json"
	"net/http"

	"recordbridge/infra/local/faults"
)

// maxFaults is the maximum size of the list of faults, in bytes.
const maxFaults = 64 << 10

// Faults stores the faults that a user has enabled.
type Faults interface {
	Faults() []faults.Fault
	Set(all []faults.Fault) error
}

func (c *console) serveFaults(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"faults": c.Faults.Faults()})
}

// serveSetFaults enables the listed faults and disables all others. Unknown table and queue names are rejected, because
// their faults would never occur.
func (c *console) serveSetFaults(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Faults []faults.Fault `json:"faults"`
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxFaults))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	for _, f := range in.Faults {
		if f.Name != "" && f.Service != "s3" && !c.isTableOrQueue(f.Name) {
			writeError(w, http.StatusBadRequest, "There is no table or queue named "+f.Name+".")
			return
		}
	}
	if err := c.Faults.Set(in.Faults); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	c.serveFaults(w, r)
}

func (c *console) isTableOrQueue(name string) bool {
	for _, t := range c.Tables.Tables() {
		if t.Name == name {
			return true
		}
	}
	_, isQueue := c.queue(name)
	return isQueue
}

func (c *console) serveDamage(w http.ResponseWriter, r *http.Request) {
	table, query := r.PathValue("table"), r.URL.Query()
	ok, err := c.Tables.Damage(table, query.Get("id"), query.Get("attribute"))
	switch {
	case err != nil:
		refuseTable(w, err)
	case !ok:
		writeError(w, http.StatusNotFound, "The row has no such attribute, or the attribute is part of a key.")
	default:
		writeJSON(w, http.StatusOK, map[string]string{"damaged": query.Get("attribute")})
	}
}

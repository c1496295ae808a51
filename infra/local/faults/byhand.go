package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"recordbridge/infra/local/aws/wire"
)

// Fault is a user-enabled fault that affects the calls that match its fields. An empty field matches every call.
type Fault struct {
	Caller    string `json:"caller,omitempty"`    // function's logical ID; "" means all functions but no other callers
	Service   string `json:"service,omitempty"`   // service name, as in wire.Call
	Operation string `json:"operation,omitempty"` // AWS's operation name
	Name      string `json:"name,omitempty"`      // name of the table, queue or bucket
	Kind      string `json:"kind"`                // kind of fault, such as "throttled"
}

// kinds maps the values of Fault.Kind to fault kinds.
var kinds = map[string]Kind{
	"throttled": Throttled, "failed": FailedBefore, "failed-after": FailedAfter, "broken": BrokenBefore,
	"broken-after": BrokenAfter, "silent": TimedOutBefore, "silent-after": TimedOutAfter,
}

// ByHand holds the faults that a user has enabled. A ByHand is safe for concurrent use.
type ByHand struct {
	on   atomic.Pointer[[]Fault]
	plan *Plan // decides how a fault manifests, but not when it occurs
}

// NewByHand returns a ByHand with no faults enabled.
func NewByHand() *ByHand {
	b := &ByHand{plan: New(Options{})}
	b.on.Store(&[]Fault{})
	return b
}

// Faults returns the enabled faults.
func (b *ByHand) Faults() []Fault { return slices.Clone(*b.on.Load()) }

// Set enables the given faults and disables all others. If a kind is unknown, Set returns an error that names it.
func (b *ByHand) Set(all []Fault) error {
	for _, f := range all {
		if _, known := kinds[f.Kind]; !known {
			return fmt.Errorf("unknown kind of fault %q", f.Kind)
		}
	}
	all = append([]Fault{}, all...)
	b.on.Store(&all)
	return nil
}

// Middleware returns middleware for aws.Options.Middleware that injects the enabled faults.
func (b *ByHand) Middleware() wire.Middleware {
	return func(next wire.Handler) wire.Handler {
		return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
			kind := b.decide(r, c)
			if kind == None {
				next(w, r, c)
				return
			}
			if kind.afterEffect() {
				next(&discarded{}, r, c)
			}
			b.plan.inject(w, r, c, kind, b.plan.random(c.Operation))
		}
	}
}

func (b *ByHand) decide(r *http.Request, c wire.Call) Kind {
	for _, f := range *b.on.Load() {
		if f.fits(c) && (f.Name == "" || slices.Contains(names(r, c), f.Name)) {
			return kinds[f.Kind]
		}
	}
	return None
}

func (f Fault) fits(c wire.Call) bool {
	isCaller := f.Caller == c.Caller || f.Caller == "" && strings.HasSuffix(c.Caller, "Function")
	return isCaller && (f.Service == "" || f.Service == c.Service) && (f.Operation == "" || f.Operation == c.Operation)
}

// names returns the names of the tables, queue or bucket that a call accesses.
func names(r *http.Request, c wire.Call) []string {
	if c.Service == "s3" {
		bucket, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		return []string{bucket}
	}
	var about struct {
		TableName     string
		QueueURL      string `json:"QueueUrl"`
		TransactItems []map[string]struct{ TableName string }
		RequestItems  map[string]json.RawMessage
	}
	body, err := wire.Body(r)
	if err != nil || json.Unmarshal(body, &about) != nil {
		return nil // the service reports the error
	}
	all := []string{about.TableName, path.Base(about.QueueURL)}
	for _, part := range about.TransactItems {
		for _, write := range part {
			all = append(all, write.TableName)
		}
	}
	for table := range about.RequestItems {
		all = append(all, table)
	}
	return all
}

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

// Fault is one that a person switches on: what happens to the calls that it fits. Empty fields fit everything.
type Fault struct {
	Caller    string `json:"caller,omitempty"`    // logical id of a function; "" is all functions, and nobody else
	Service   string `json:"service,omitempty"`   // as in wire.Call
	Operation string `json:"operation,omitempty"` // as AWS names it
	Name      string `json:"name,omitempty"`      // of the table, queue or bucket
	Kind      string `json:"kind"`                // a word of kinds
}

// kinds are the words of a Fault.
var kinds = map[string]Kind{
	"throttled": Throttled, "failed": FailedBefore, "failed-after": FailedAfter, "broken": BrokenBefore,
	"broken-after": BrokenAfter, "silent": TimedOutBefore, "silent-after": TimedOutAfter,
}

// ByHand are the faults that are switched on now. Its methods may be called from many goroutines.
type ByHand struct {
	on   atomic.Pointer[[]Fault]
	plan *Plan // says how a fault looks, not when
}

// NewByHand makes one without faults.
func NewByHand() *ByHand {
	b := &ByHand{plan: New(Options{})}
	b.on.Store(&[]Fault{})
	return b
}

// Faults lists those that are on.
func (b *ByHand) Faults() []Fault { return slices.Clone(*b.on.Load()) }

// Set switches these on, and all others off. The error names a kind that there is not.
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

// Middleware is what aws.Options.Middleware takes.
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

// decide takes the first that fits.
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

// names are the tables, the queue or the bucket that a call is about.
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
		return nil // the service says what is wrong with it
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

package lambda

import (
	"crypto/rand"
	"fmt"
	"time"
)

// newTrace makes the root of a trace id: a version, the time in seconds and 96 random bits, in hexadecimal digits
// (https://docs.aws.amazon.com/xray/latest/devguide/xray-api-sendingdata.html#xray-api-traceids).
func newTrace() string {
	random := make([]byte, 12)
	_, _ = rand.Read(random) // never fails, as its documentation says
	return fmt.Sprintf("1-%08x-%x", time.Now().Unix(), random)
}

// unobserved is the Observer when there is none.
type unobserved struct{}

// Asked implements Observer.
func (unobserved) Asked(string, string, []byte) {}

// Starting implements Observer.
func (unobserved) Starting(string) {}

// Given implements Observer.
func (unobserved) Given(string, string) {}

// Wrote implements Observer.
func (unobserved) Wrote(string, string) {}

// Over implements Observer.
func (unobserved) Over(string, []byte, error, int64) {}

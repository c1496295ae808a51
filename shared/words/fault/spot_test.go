package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"recordbridge/shared/words/fault"
)

type answered struct{}

func (answered) Error() string          { return "answered" }
func (answered) Failure() (string, int) { return "limited", 429 }

func TestSpotOfReturnsSpotFromWrappedError(t *testing.T) {
	t.Parallel()
	token := fault.Spot{Step: fault.StepToken, Host: "ehr.example"}
	throttled := fault.Spot{Dependency: "DynamoDB", Operation: "GetItem", Class: "ThrottlingException"}
	for name, test := range map[string]struct {
		err  error
		want fault.Spot
	}{
		"nowhere": {errors.New("x"), fault.Spot{}},
		"with its answer": {
			token.Failed(fmt.Errorf("read: %w", answered{})),
			fault.Spot{Step: fault.StepToken, Host: "ehr.example", Class: "limited", Status: 429},
		},
		"deeper": {fault.BadRequest("x").Because(fmt.Errorf("y: %w", token.Failed(errors.New("x")))), token},
		"in time": {
			token.Failed(context.DeadlineExceeded),
			fault.Spot{Step: fault.StepToken, Host: "ehr.example", Class: "timeout"},
		},
		"with its cause": {
			token.Failed(causes().Failed("late", context.DeadlineExceeded)),
			fault.Spot{Step: fault.StepToken, Host: "ehr.example", Class: "late"},
		},
		"with both": {
			token.Failed(causes().Failed("late", answered{})),
			fault.Spot{Step: fault.StepToken, Host: "ehr.example", Class: "limited", Status: 429},
		},
		"with its own word": {fault.Spot{Class: "busy"}.Failed(answered{}), fault.Spot{Class: "busy"}},
		"in AWS during a step": {
			token.Failed(fmt.Errorf("read secret: %w", throttled.Failed(errors.New("x")))), throttled,
		},
		"in AWS at a table": {
			fault.Spot{Table: "Work", Class: "other", Operation: "other"}.Failed(throttled.Failed(errors.New("x"))),
			fault.Spot{Dependency: "DynamoDB", Operation: "GetItem", Class: "ThrottlingException", Table: "Work"},
		},
		"not at all":     {token.Failed(nil), fault.Spot{}},
		"at a zero spot": {fault.Spot{}.Failed(answered{}), fault.Spot{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := fault.SpotOf(test.err); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
	if err := token.Failed(fault.Missing("x")); !errors.Is(err, fault.NotFound) || err.Error() != "svc_not_found: x" {
		t.Errorf("a spot changes its error to %v", err)
	}
}

// TestHostOfOmitsPathQueryAndUserInfo checks that HostOf removes the parts of a URL that may contain secrets.
func TestHostOfOmitsPathQueryAndUserInfo(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://ehr.example/r4/x?key=SECRET#SECRET":   "ehr.example",
		"https://user:SECRET@ehr.example:8443/SECRET":  "ehr.example:8443",
		"https://ehr.example?SECRET":                   "ehr.example",
		"http://[::1]:80/SECRET":                       "[::1]:80",
		`https://ehr.example\SECRET`:                   "ehr.example",
		"https://SECRET@other@ehr.example/SECRET@more": "ehr.example",
		"SECRET/without/a/scheme":                      "",
		"":                                             "",
	} {
		if got := fault.HostOf(address); got != want {
			t.Errorf("HostOf(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestOutageReportsFailureOfAWSService(t *testing.T) {
	t.Parallel()
	down := fault.Spot{Dependency: "KMS", Operation: "Decrypt", Class: "KMSInternalException"}
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"no error":               {nil, false},
		"AWS":                    {fmt.Errorf("open: %w", down.Failed(errors.New("x"))), true},
		"AWS, told to a client":  {fault.New(fault.Unavailable, "x", "x").Because(down.Failed(errors.New("x"))), true},
		"a health system":        {fault.Spot{Step: fault.StepToken}.Failed(errors.New("x")), false},
		"a damaged row":          {fault.Spot{Row: "TASK", Operation: "open"}.Failed(errors.New("x")), false},
		"a missing object":       {fault.Missing("x").Because(down.Failed(errors.New("x"))), false},
		"a write that conflicts": {fault.Stale().Because(down.Failed(errors.New("x"))), false},
	} {
		if got := fault.Outage(test.err); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

package main

import (
	"strings"
	"testing"
)

func TestAnEndpointsOverridesAreCheckedBeforeTheyAreStored(t *testing.T) {
	outputs := newStack(t)
	done := doer(t, outputs)
	create := []string{"endpoint", "create", "-fhir-base", nowhere, "-unpinned", "-platform", "epic", "-client-id", "c", "-name", "Maple Hospital"}
	if _, err := ctl(t, outputs, append(create, "-override", "authorize: {aud: sometimes}")...); err == nil || !strings.Contains(err.Error(), "authorize.aud") {
		t.Errorf("creating one with broken overrides: %v", err)
	}
	id, _ := done(append(create, "-override", "authorize: {aud: none}")...)["endpoint_id"].(string)
	for _, overrides := range []string{"tokens: {consent: 720h}", ""} {
		if got := done("endpoint", "override", "-endpoint", id, "-override", overrides); got["overrides"] != overrides {
			t.Errorf("printed %v", got)
		}
	}
	for name, args := range map[string][]string{
		"authorize: no field audience": {"-endpoint", id, "-override", "authorize: {audience: none}"},
		"There is no endpoint":         {"-endpoint", "00000000-0000-4000-8000-000000000000", "-override", ""},
	} {
		_, err := ctl(t, outputs, append([]string{"endpoint", "override"}, args...)...)
		if want := name[strings.LastIndex(name, " ")+1:]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

package iam_test

import (
	"testing"

	"recordbridge/infra/local/iam"
	"recordbridge/infra/local/template"
)

// operation describes a call and exactly the permissions that it needs.
type operation struct {
	needs   []template.Statement // each statement allows a single action on a single resource
	prepare step                 // step run as the administrator; may be nil
	do      step
}

func TestOperationsRequireExactPermissions(t *testing.T) {
	t.Parallel()
	groups := map[string]map[string]operation{
		"dynamodb": tableOperations(), "sqs": queueOperations(), "s3": objectOperations(), "kms": keyOperations(),
		"others": otherOperations(),
	}
	for service, operations := range groups {
		for name, o := range operations {
			t.Run(service+" "+name, func(t *testing.T) {
				t.Parallel()
				o.check(t)
			})
		}
	}
}

// check checks that the call succeeds with all permissions, and is denied if any one of them is missing.
func (o operation) check(t *testing.T) {
	t.Helper()
	declared := world(o.needs...)
	cloud, authority := start(t, declared)
	o.checkEach(t, declared)
	if o.prepare != nil {
		if err := o.prepare(t.Context(), cloud.Config("provision")); err != nil {
			t.Fatal(err)
		}
	}
	wantAllowed(t, cloud, o.do)
	if unused := authority.Unused(); len(unused) > 0 {
		t.Errorf("the call does not need %v", unused)
	}
}

func (o operation) checkEach(t *testing.T, declared *template.Template) {
	t.Helper()
	for _, gone := range iam.Grants(declared.Functions) {
		poorer := *declared
		poorer.Functions = iam.Without(declared.Functions, gone)
		cloud, authority := start(t, &poorer)
		if o.prepare != nil {
			if err := o.prepare(t.Context(), cloud.Config("provision")); err != nil {
				t.Fatal(err)
			}
		}
		wantDenied(t, cloud, authority, o.do, gone.Action, gone.Resource)
	}
}

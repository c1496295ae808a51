// Package iam enforces permissions in the embedded AWS. The package's middleware checks every call by a function
// against the function's statements in the template, as IAM checks a role's statements. The middleware also records
// which permissions were used or denied. Package iam does not authenticate callers: package aws has already verified
// the call's signature.
//
// The package supports only roles with identity-based Allow statements. Deny statements, key, queue and bucket
// policies, boundaries and session policies are not supported. The permissions that a call requires follow the AWS
// Service Authorization Reference.
package iam

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/template"
)

// Authority decides which calls are allowed. Use New to create an Authority. An Authority is safe for concurrent use.
type Authority struct {
	roles  map[string]*role  // roles by the function's logical ID
	groups map[string]string // each function's log group, by logical ID
	keys   map[string]string // ARN of a bucket's KMS key, by bucket name
	hashes map[string]string // partition key attribute, by table or index ARN
	grants []Grant

	mu      sync.Mutex
	uses    map[Grant]int
	denials map[Denial]struct{}
}

type role struct {
	function    string
	statements  []statement
	conditional bool // true if any statement has a condition, in which case requests must be parsed for keys
}

// New returns an Authority for t's functions. New also reads t's tables and buckets, because their keys determine some
// of the permissions that a call requires. New returns an error if a statement contains an unsupported operator, key or
// policy variable.
func New(t *template.Template) (*Authority, error) {
	a := &Authority{
		roles: map[string]*role{}, groups: map[string]string{}, keys: map[string]string{}, hashes: map[string]string{},
		grants: Grants(t.Functions),
		uses:   map[Grant]int{}, denials: map[Denial]struct{}{},
	}
	for _, f := range t.Functions {
		r := &role{function: f.LogicalID}
		for i, declared := range f.Statements {
			s, err := compile(declared)
			if err != nil {
				return nil, fmt.Errorf("%s, statement %d (%s): %w", f.LogicalID, i, declared.Sid, err)
			}
			r.statements = append(r.statements, s)
			r.conditional = r.conditional || len(s.conditions) > 0
		}
		a.roles[f.LogicalID], a.groups[f.LogicalID] = r, f.LogGroup
	}
	for _, b := range t.Buckets {
		a.keys[b.Name] = b.KeyARN
	}
	for _, table := range t.Tables {
		a.hashes[table.ARN] = table.Key.Hash
		for _, index := range table.Indexes {
			a.hashes[table.ARN+"/index/"+index.Name] = index.Key.Hash
		}
	}
	return a, nil
}

// Middleware returns middleware that denies a function's calls unless its statements allow them. A caller whose name
// ends in Function has permissions only if the template defines that function. Any other caller counts as the account's
// administrator and has full access. Install this middleware last, directly before the services, because it queries KMS
// through the next handler.
func (a *Authority) Middleware() wire.Middleware {
	return func(next wire.Handler) wire.Handler {
		return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
			caller, known := a.roles[c.Caller]
			switch {
			case known:
				a.serve(w, r, c, caller, next)
			case strings.HasSuffix(c.Caller, "Function"):
				a.serve(w, r, c, &role{function: c.Caller}, next)
			default:
				next(w, r, c)
			}
		}
	}
}

func (a *Authority) serve(w http.ResponseWriter, r *http.Request, c wire.Call, caller *role, next wire.Handler) {
	if c.Service == "kms" {
		a.serveKMS(w, r, c, caller, next)
		return
	}
	needs, err := a.needs(r, c, caller)
	if err != nil {
		unclear := need{action: c.Service + ":" + c.Operation, resource: "*"}
		a.recordDenial(caller, unclear)
		deny(w, r, c, unclear)
		return
	}
	if refused, ok := a.decide(caller, needs); !ok {
		deny(w, r, c, refused)
		return
	}
	if c.Operation == "GetObject" || c.Operation == "HeadObject" {
		w = a.conceal(w, r, c, caller)
	}
	next(w, r, c)
}

// needs returns the permissions that a call requires, or an error if the request can't be parsed, because the
// permissions are then unknown.
func (a *Authority) needs(r *http.Request, c wire.Call, caller *role) ([]need, error) {
	switch c.Service {
	case "dynamodb":
		return a.tableNeeds(r, c, caller)
	case "sqs":
		return queueNeeds(r, c)
	case "s3":
		return a.objectNeeds(r, c), nil
	case "ses":
		return mailNeeds(r, c)
	case "secretsmanager":
		return secretNeeds(r, c)
	case "ssm":
		return parameterNeeds(r, c)
	default:
		return []need{{action: c.Service + ":" + c.Operation, resource: "*"}}, nil
	}
}

// decide reports whether the caller has all the permissions in needs, and records the result. If any permission is
// missing, decide returns the first missing one.
func (a *Authority) decide(caller *role, needs []need) (need, bool) {
	used := make([]Grant, 0, len(needs))
	for _, n := range needs {
		g, ok := caller.allow(n)
		if !ok {
			a.recordDenial(caller, n)
			return n, false
		}
		used = append(used, g...)
	}
	a.recordUses(used)
	return need{}, true
}

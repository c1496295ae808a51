package probe

import (
	"context"

	"recordbridge/shared/export/known"
	"recordbridge/shared/fhir/plan"
)

// Known reads the results of earlier exports from an endpoint's server (store.EndpointState). The result is zero if
// there were no earlier exports.
type Known interface {
	Known(ctx context.Context, endpointID string) (known.Server, error)
}

// readKnown reads the results of earlier exports if the endpoint is stored.
func (t *conformance) readKnown(ctx context.Context) {
	if !t.subject.Stored {
		return
	}
	server, err := t.Known.Known(ctx, t.endpoint.ID)
	t.isKnown = err == nil
	c := t.capability
	t.known = server.Of(known.ReleaseOf(c.Software, c.Release, c.Date))
}

// tried describes the outcome of exports that requested types missing from the server's list.
func (t *conformance) tried(unlisted []string) string {
	switch {
	case len(unlisted) == 0 || !t.subject.Stored:
		return ""
	case !t.isKnown:
		return " It is unknown whether exports have tried them."
	}
	var answered, refused, untried []string
	for _, name := range unlisted {
		answers, isTried := t.known.Answers(name, t.Now())
		switch {
		case isTried && answers:
			answered = append(answered, name)
		case isTried:
			refused = append(refused, name)
		default:
			untried = append(untried, name)
		}
	}
	return leftOutBut("Unlisted, but searchable and exported", answered) +
		leftOutBut("Rejected when an export tried them", refused) +
		leftOutBut("Not yet tried with this server release; the next export tries those that the scopes cover", untried)
}

// attached describes whether _revinclude=Provenance:target worked in earlier exports if the statement does not list it.
func (t *conformance) attached(facts plan.Facts) string {
	works, isTried := t.known.AttachesProvenance(t.Now())
	facts.Attaches = false
	switch {
	case !plan.MayAttach(facts) || !t.subject.Stored:
		return ""
	case !t.isKnown:
		return " The statement doesn't list _revinclude for Provenance. It is unknown whether exports have tried it."
	case isTried && works:
		return " The statement doesn't list _revinclude for Provenance, but it worked in an export."
	case isTried:
		return " The statement doesn't list _revinclude for Provenance, and it failed in an export."
	}
	return " The statement doesn't list _revinclude for Provenance. The next export will try it."
}

// leftOutBut describes the unlisted types, or returns "" if all types are listed.
func leftOutBut(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " " + what + ": " + listed(names) + "."
}

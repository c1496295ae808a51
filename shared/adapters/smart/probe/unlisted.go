package probe

import (
	"context"

	"recordbridge/shared/export/known"
	"recordbridge/shared/fhir/plan"
)

// Known reads the results of exports about an endpoint's server (store.EndpointState), or the zero value if there were
// none.
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

// tried reports the results of exports for types that the server does not list.
func (t *conformance) tried(unlisted []string) string {
	switch {
	case len(unlisted) == 0 || !t.subject.Stored:
		return ""
	case !t.isKnown:
		return " Whether exports have tried them cannot be read."
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
	return leftOutBut("Answered all the same, and exported", answered) +
		leftOutBut("Refused when an export tried them", refused) +
		leftOutBut("Not tried yet at this release, which the next export does as far as the scopes cover them", untried)
}

// attached reports the results of exports with _revinclude=Provenance:target if the statement does not list it.
func (t *conformance) attached(facts plan.Facts) string {
	works, isTried := t.known.AttachesProvenance(t.Now())
	facts.Attaches = false
	switch {
	case !plan.MayAttach(facts) || !t.subject.Stored:
		return ""
	case !t.isKnown:
		return " The statement lists no _revinclude of Provenance. Whether exports have tried it cannot be read."
	case isTried && works:
		return " The statement lists no _revinclude of Provenance, but an export has shown that it works."
	case isTried:
		return " The statement lists no _revinclude of Provenance, and it did not work when an export tried it."
	}
	return " The statement lists no _revinclude of Provenance. The next export will try it."
}

// leftOutBut names unlisted types, if there are any.
func leftOutBut(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " " + what + ": " + listed(names) + "."
}

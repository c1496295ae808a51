package export

import (
	"strings"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/fhir"
)

// noteQuestionnaire keeps the Questionnaire to be read that a response answers. R4 names it by a canonical URL, which is that
// of a resource of this server, or else a name to search this server for: nothing is asked of the server in the URL.
func (c *collector) noteQuestionnaire(canonical string, round int) {
	address, _, _ := strings.Cut(canonical, "|")
	address, _, _ = strings.Cut(address, "#")
	if address == "" || !c.task.Options.wants("Questionnaire") {
		return
	}
	if resourceType, id, ok := fhir.ParseReference(address, c.base); ok {
		if resourceType == "Questionnaire" {
			c.note(reference{Type: resourceType, ID: id, Round: round + 1})
		}
		return
	}
	q := plan.Definition(address)
	switch {
	case !c.isNew(q.Type, definitionName(q), len(address)):
	case c.state.ByURL:
		c.state.Queries = append(c.state.Queries, q)
	case !c.granted(q.Type, fhir.Search):
		c.missDefinition(q, OutcomeDenied, LossNotGranted, 0)
	default:
		c.missDefinition(q, OutcomeUnsupported, LossNotFound, 0)
	}
}

// definitionName is what is marked of the search for a definition.
func definitionName(q plan.Query) string { return q.Type + "?" + q.Params }

// endDefinition records how the search for a definition ended.
func (c *collector) endDefinition(q plan.Query, failed *fhir.RequestError, hits int) {
	switch {
	case failed != nil:
		c.missDefinition(q, outcomeOf(failed), namedReason(failed), failed.Status)
	case hits == 0:
		c.missDefinition(q, OutcomeUnsupported, LossNotFound, 0)
	default:
		c.state.account(q.Type).Answered++
	}
}

func (c *collector) missDefinition(q plan.Query, result Outcome, reason LossReason, status int) {
	account := c.state.account(q.Type)
	account.Missing++
	account.fail(result, reason, status)
}

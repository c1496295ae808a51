package collect

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// maxRounds limits how many levels of references an export follows (docs/reference/deviations.md, "Exports").
const maxRounds = 5

// referenceQueue queues the targets of references for the export to read.
type referenceQueue struct {
	state   *checkpoint.State
	record  *record
	options export.Options
	session *source.Session
}

// note queues all references in a resource. The round argument is the number of references followed to reach the
// resource.
func (n referenceQueue) note(resource fhir.Resource, round int) {
	for _, text := range resource.References {
		n.reference(text, round)
	}
	for _, a := range resource.Attachments {
		n.attachment(a, round)
	}
	if resource.Type == "QuestionnaireResponse" {
		n.questionnaire(resource.Questionnaire, round)
	}
	if resource.Cut > 0 {
		n.state.Accounts.Of(resource.Type).Miss(resource.Cut, export.OutcomeTruncated, export.LossLimit, 0)
	}
}

// reference queues the target of a literal reference, or records that the target is on another server.
func (n referenceQueue) reference(text string, round int) {
	if n.state.Server.KeepReference(text) {
		return
	}
	if resourceType, id, ok := fhir.ParseReference(text, n.record.base); ok {
		n.follow(resourceType, id, round)
		return
	}
	resourceType, ok := fhir.ForeignReference(text, n.record.base)
	if ok && plan.Followed(resourceType) && n.options.Wants(resourceType) {
		n.foreign(resourceType, text)
	}
}

// follow queues a resource to be read. The round argument is the number of references followed to reach the resource.
func (n referenceQueue) follow(resourceType, id string, round int) {
	if plan.Followed(resourceType) && n.options.Wants(resourceType) && round < maxRounds {
		n.state.AddReference(checkpoint.Reference{Type: resourceType, ID: id, Round: round + 1})
	}
}

// foreign counts each resource on another server once. The export does not request the resource, because tokens must
// not be sent to another server.
func (n referenceQueue) foreign(resourceType, address string) {
	if n.state.IsNew(resourceType, address, 0) {
		n.state.Accounts.Of(resourceType).Miss(1, export.OutcomeUnsupported, export.LossElsewhere, 0)
	}
}

// attachment queues the URL of an attachment. The export sends requests only to the patient's server. The outcome
// reports content on other servers as missing from the file.
func (n referenceQueue) attachment(a fhir.Attachment, round int) {
	if !n.options.Wants("Binary") || n.state.Server.KeepAttachment(a) {
		return
	}
	address, ok := n.record.base.Resolve(a.URL)
	if !ok {
		n.foreign("Binary", a.URL)
		return
	}
	if resourceType, id, ok := fhir.ParseReference(address, n.record.base); ok {
		n.follow(resourceType, id, round)
		return
	}
	n.state.AddAttachment(checkpoint.Attachment{URL: address, ContentType: a.ContentType, ID: attachmentID(address)})
}

// attachmentID returns the id of the Binary that holds the content at a URL. The id is the same in every export.
func attachmentID(address string) string {
	sum := sha256.Sum256([]byte(address))
	return "b-" + hex.EncodeToString(sum[:])[:60]
}

// questionnaire queues the Questionnaire of a QuestionnaireResponse. In R4, a canonical URL identifies the
// Questionnaire. The URL either identifies a resource on the patient's server or serves as the value of a search
// parameter there. The export sends no requests to other servers named in the URL.
func (n referenceQueue) questionnaire(canonical string, round int) {
	address, _, _ := strings.Cut(canonical, "|")
	address, _, _ = strings.Cut(address, "#")
	if address == "" || !n.options.Wants("Questionnaire") {
		return
	}
	if resourceType, id, ok := fhir.ParseReference(address, n.record.base); ok {
		if resourceType == "Questionnaire" {
			n.follow(resourceType, id, round)
		}
		return
	}
	q, state := plan.Definition(address), n.state
	switch {
	case !state.IsNew(q.Type, q.Type+"?"+q.Params, len(address)):
	case state.Server.ByURL:
		state.Work.Queries = append(state.Work.Queries, q)
	case !n.session.Allows(q.Type, fhir.Search):
		state.Accounts.Of(q.Type).Miss(1, export.OutcomeDenied, n.session.Withheld(q.Type, fhir.Search), 0)
	default:
		state.Accounts.Of(q.Type).Miss(1, export.OutcomeUnsupported, export.LossNotFound, 0)
	}
}

// knownAs records the ids and business identifiers that the patient has on the server. The ids include those of linked
// Patient resources for the same person (Patient.link), which remain after a merge.
func (n referenceQueue) knownAs(patient fhir.Resource) {
	known := &n.state.Patient
	known.IDs = []string{n.record.patient}
	person := fhir.ScanPerson(patient)
	for _, text := range person.Links {
		if !n.state.Server.KeepLink(text) {
			n.samePerson(text)
		}
	}
	for _, one := range person.Identifiers {
		known.Identifiers = append(known.Identifiers, identifierMark(one))
	}
}

// samePerson records that a link points to another Patient resource for the same person.
func (n referenceQueue) samePerson(link string) {
	if resourceType, id, ok := fhir.ParseReference(link, n.record.base); ok && resourceType == "Patient" {
		n.state.Patient.AddID(id)
	}
}

// learn extracts the server's own base URL from the first page of the search at path.
func (n referenceQueue) learn(page fhir.Bundle, path string) {
	n.record.base = n.record.base.Learn(page, path)
	n.state.Server.Own = n.record.base.Own()
	if page.Self != "" || page.EntryBase != "" {
		n.resolve()
	}
}

// resolve determines which server each absolute URL in the Patient belongs to. Call resolve only after the export has
// learned all that it can about the server's own URL.
func (n referenceQueue) resolve() {
	kept := n.state.Server.TakeUnresolved()
	for _, text := range kept.Links {
		n.samePerson(text)
	}
	for _, text := range kept.References {
		n.reference(text, 0)
	}
	for _, a := range kept.Attachments {
		n.attachment(a, 0)
	}
}

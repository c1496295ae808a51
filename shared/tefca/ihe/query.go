package ihe

import (
	"context"
	"errors"
	"fmt"

	"github.com/beevik/etree"

	"recordbridge/shared/tefca"
)

// Limits on a document list. Each entry takes about 6 KB.
const (
	maxList      = 16 << 20 // in bytes
	maxDocuments = 2000
)

var errFailed = errors.New("the query has failed")

// Documents implements tefca.Network with the stored query FindDocuments. The list includes both stable and on-demand
// documents.
func (n *Network) Documents(ctx context.Context, who tefca.Assertion, at tefca.Facility) ([]tefca.Document, error) {
	to, err := n.at(at)
	if err != nil {
		return nil, err
	}
	whose, err := patient(at)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, n.gatewayLimit)
	defer cancel()
	got, err := n.ask(limited, who, call{
		action: actQuery, format: to.format, address: to.gateway.Query,
		body: func(string) *etree.Element {
			return queryBody(whose, to.format, to.format.between(who.Person, n.deps.Now()))
		},
		packaged: false, limit: maxList, repeatable: true,
	})
	if err != nil {
		return nil, err
	}
	return n.listed(got.body, whose)
}

// queryBody builds a query for all of a patient's approved documents (IHE ITI TF-2, 3.38.4.1.2 and 3.18.4.1.2.3.7.1).
// between may limit the query to a date range.
func queryBody(whose local, as requestFormat, between [][2]string) *etree.Element {
	root := etree.NewElement("query:AdhocQueryRequest")
	root.CreateAttr("xmlns:query", querySpace)
	root.CreateAttr("xmlns:rim", rimSpace)
	with(root, "query:ResponseOption", "returnComposedObjects", "true", "returnType", "LeafClass")
	query := with(root, "rim:AdhocQuery", "id", findDocuments, "home", as.home(id(whose.Home)))
	for _, parameter := range append([][2]string{
		{"$XDSDocumentEntryPatientId", "'" + whose.cx() + "'"},
		{"$XDSDocumentEntryStatus", "('" + approved + "')"},
		{"$XDSDocumentEntryType", "('" + stableEntry + "','" + onDemandEntry + "')"},
	}, between...) {
		put(with(query, "rim:Slot", "name", parameter[0]).CreateElement("rim:ValueList"), "rim:Value", parameter[1])
	}
	return root
}

// listed parses the response to FindDocuments (IHE ITI TF-2, 3.38.4.2.2; TF-3, 4.2.4 for errors). It returns the usable
// entries. Entries that are unreadable or belong to another patient or community are counted in a tefca.ListError.
func (n *Network) listed(root *element, whose local) ([]tefca.Document, error) {
	if !root.is(querySpace, "AdhocQueryResponse") {
		return nil, content(errShape)
	}
	status, code := root.attribute("status"), firstError(root)
	switch {
	case status == statusFailure && code == unknownPatient:
		return nil, fmt.Errorf("ihe: %w: %w", errFailed, tefca.ErrRefused)
	case status == statusFailure:
		return nil, fmt.Errorf("ihe: %w: %w", errFailed, tefca.ErrUnavailable)
	case status != statusSuccess && status != statusPartial:
		return nil, content(errShape)
	}
	entries := root.optionalChild(rimSpace, "RegistryObjectList").all(rimSpace, "ExtrinsicObject")
	if err := root.shapeError(); err != nil {
		return nil, content(err)
	}
	all := make([]tefca.Document, 0, min(len(entries), maxDocuments))
	known := map[string]entry{} // entries, keyed by document ID
	var missing tefca.ListError
	for i, e := range entries {
		read, wrong := n.entry(e, whose)
		if wrong.err != nil {
			missing.Add(wrong.err, wrong.attribute)
			continue
		}
		if before, twice := known[read.at.Document.value()]; twice {
			if !before.isSame(read) { // Only the first entry is kept.
				missing.Add(tefca.ErrContent, attributeUnique)
			}
			continue
		}
		if len(all) == maxDocuments {
			rest := tefca.Loss{Err: tefca.ErrTooLarge, Attribute: "", Count: len(entries) - i}
			missing.Lost = append(missing.Lost, rest)
			break
		}
		known[read.at.Document.value()] = read
		all = append(all, read.document)
	}
	if status == statusPartial {
		missing.Add(tefca.ErrUnavailable, "")
	}
	if len(missing.Lost) > 0 {
		return all, &missing
	}
	return all, nil
}

// firstError returns the code of the first error in a registry response (IHE ITI TF-3, 4.2.4.1).
func firstError(root *element) string {
	for _, e := range root.optionalChild(registry, "RegistryErrorList").all(registry, "RegistryError") {
		return e.attribute("errorCode")
	}
	return ""
}

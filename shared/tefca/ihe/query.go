package ihe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/beevik/etree"

	"recordbridge/shared/tefca"
)

// What is read of a list: an entry takes about 6 KB.
const (
	maxList      = 16 << 20 // bytes
	maxDocuments = 2000
)

var (
	errPatient   = errors.New("a document of another patient")
	errCommunity = errors.New("a document of another community")
	errTwice     = errors.New("two documents of one id")
	errFailed    = errors.New("the query has failed")
	errPartial   = errors.New("the list is not whole")
)

// Documents implements tefca.Network with the stored query FindDocuments: stable documents and those that are made on demand.
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
		action: actQuery, address: to.gateway.Query, body: func(string) *etree.Element { return queryBody(whose) },
		packaged: false, limit: maxList, repeatable: true,
	})
	if err != nil {
		return nil, err
	}
	return listed(got.body, whose)
}

// queryBody asks for all that is approved of a patient (IHE ITI TF-2, 3.38.4.1.2 and 3.18.4.1.2.3.7.1).
func queryBody(whose local) *etree.Element {
	root := etree.NewElement("query:AdhocQueryRequest")
	root.CreateAttr("xmlns:query", querySpace)
	root.CreateAttr("xmlns:rim", rimSpace)
	with(root, "query:ResponseOption", "returnComposedObjects", "true", "returnType", "LeafClass")
	query := with(root, "rim:AdhocQuery", "id", findDocuments, "home", whose.Home)
	for _, parameter := range [][2]string{
		{"$XDSDocumentEntryPatientId", "'" + whose.cx() + "'"},
		{"$XDSDocumentEntryStatus", "('" + approved + "')"},
		{"$XDSDocumentEntryType", "('" + stableEntry + "','" + onDemandEntry + "')"},
	} {
		put(with(query, "rim:Slot", "name", parameter[0]).CreateElement("rim:ValueList"), "rim:Value", parameter[1])
	}
	return root
}

// listed reads the answer to FindDocuments (IHE ITI TF-2, 3.38.4.2.2; TF-3, 4.2.4 of errors). One entry that is not of this person at
// this community makes the whole answer one that cannot be believed.
func listed(root *element, whose local) ([]tefca.Document, error) {
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
	entries := root.perhaps(rimSpace, "RegistryObjectList").all(rimSpace, "ExtrinsicObject")
	all := make([]tefca.Document, 0, min(len(entries), maxDocuments))
	repositories := map[string]string{} // by document
	for _, e := range entries {
		d, where, err := entry(e, whose)
		if err == nil {
			err = root.wellShaped()
		}
		if err != nil {
			return nil, content(err)
		}
		if before, twice := repositories[d.ID]; twice && before != where {
			return nil, content(errTwice)
		} else if twice {
			continue // told twice
		}
		if len(all) == maxDocuments {
			return all, fmt.Errorf("ihe: %w: %w", errPartial, tefca.ErrTooLarge)
		}
		repositories[d.ID] = where
		all = append(all, d)
	}
	if err := root.wellShaped(); err != nil {
		return nil, content(err)
	}
	if status == statusPartial {
		return all, fmt.Errorf("ihe: %w: %w", errPartial, tefca.ErrUnavailable)
	}
	return all, nil
}

// entry reads one document (IHE ITI TF-3, 4.2.3.2).
func entry(e *element, whose local) (tefca.Document, string, error) {
	if e.attribute("home") != whose.Home {
		return tefca.Document{}, "", errCommunity
	}
	if kind := e.attribute("objectType"); kind != stableEntry && kind != onDemandEntry {
		return tefca.Document{}, "", errShape
	}
	if external(e, entryPatient) != whose.cx() {
		return tefca.Document{}, "", errPatient
	}
	id, repository := external(e, entryUnique), slot(e, "repositoryUniqueId")
	if !printable(id) || !printable(repository) {
		return tefca.Document{}, "", errShape
	}
	size, err := strconv.ParseInt(slot(e, "size"), 10, 64)
	if err != nil || size < 0 {
		size = 0
	}
	return tefca.Document{
		ID: id, Type: e.attribute("mimeType"), Made: moment(slot(e, "creationTime")), Size: size,
		Locator: locator{Home: whose.Home, Patient: whose.cx(), Repository: repository, Document: id}.seal(),
	}, repository, nil
}

// external is an external identifier of an entry, by its scheme; nothing if there is none, or two.
func external(e *element, scheme string) string {
	found := ""
	for _, id := range e.all(rimSpace, "ExternalIdentifier") {
		if id.attribute("identificationScheme") == scheme {
			if found != "" {
				return ""
			}
			found = id.attribute("value")
		}
	}
	return found
}

// slot is the value of a slot of an entry; nothing if there is none, or two.
func slot(e *element, name string) string {
	found, count := "", 0
	for _, s := range e.all(rimSpace, "Slot") {
		if s.attribute("name") == name {
			found = s.only(rimSpace, "ValueList").perhaps(rimSpace, "Value").words()
			count++
		}
	}
	if count != 1 {
		return ""
	}
	return found
}

// moment reads a time of HL7 v2 as document registries write it: UTC, to the day or finer (IHE ITI TF-3, table 4.2.3.1.7-2). It is zero where there is
// none.
func moment(dtm string) time.Time {
	for _, layout := range []string{"20060102150405", "200601021504", "20060102"} {
		if at, err := time.Parse(layout, dtm); err == nil {
			return at
		}
	}
	return time.Time{}
}

// firstError is the code of the first error that a registry tells (IHE ITI TF-3, 4.2.4.1).
func firstError(root *element) string {
	for _, e := range root.perhaps(registry, "RegistryErrorList").all(registry, "RegistryError") {
		return e.attribute("errorCode")
	}
	return ""
}

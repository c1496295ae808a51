package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/sim/document"
	"recordbridge/shared/words/secret"
)

const mediaType = "text/xml"

// Documents implements tefca.Network. It lists the documents recorded under the local IDs that the facility reported,
// ordered by date.
func (n Network) Documents(ctx context.Context, who tefca.Assertion, at tefca.Facility) ([]tefca.Document, error) {
	h, err := n.ask(ctx, who, at)
	if err != nil {
		return nil, err
	}
	c := h.chart()
	var list []tefca.Document
	for i, v := range c.visits() {
		if !isListed(at, c.name(v)) {
			continue
		}
		name, d := c.name(v), c.document(v)
		made, err := time.Parse("200601021504-0700", d.Made)
		if err != nil {
			return nil, errors.Join(tefca.ErrContent, err)
		}
		listed := tefca.Document{ID: name, Type: mediaType, Made: made, Locator: secret.New(name)}
		if h.defects[i] != huge { // a huge document's size is not listed, so the reader must detect it
			listed.Size = int64(len(h.content(i, d)))
		}
		list = append(list, listed)
	}
	return list, nil
}

// Retrieve implements tefca.Network.
func (n Network) Retrieve(ctx context.Context, who tefca.Assertion, at tefca.Facility, listed tefca.Document,
	limit int64,
) ([]byte, error) {
	h, err := n.ask(ctx, who, at)
	if err != nil {
		return nil, err
	}
	c := h.chart()
	name := listed.Locator.Reveal()
	for i, v := range c.visits() {
		if c.name(v) != name || !isListed(at, name) || h.defects[i] == gone {
			continue
		}
		content := h.content(i, c.document(v))
		if h.defects[i] == huge || int64(len(content)) > limit {
			return nil, fmt.Errorf("the simulated network: %w", tefca.ErrTooLarge)
		}
		return content, nil
	}
	return nil, fmt.Errorf("the simulated network: %w", tefca.ErrNotFound)
}

// Fixtures returns documents, by name, that an export in test mode can request instead of a facility's own documents
// (fixtures.tefca_ccda of docs/openapi.yaml). The fixtures are the latest documents of two patients.
func Fixtures() map[string][]byte {
	made := map[string][]byte{}
	for _, h := range holdings() {
		name := map[string]string{"p06": "alder.xml", "p02": "birch.xml"}[h.subject]
		if c := h.chart(); name != "" {
			made[name] = document.Write(c.document(c.visits()[len(c.visits())-1]))
		}
	}
	return made
}

// isListed reports whether a document was recorded under one of the local IDs that the facility reported.
func isListed(at tefca.Facility, name string) bool {
	local, _, _ := strings.Cut(name, "-")
	return slices.Contains(strings.Fields(at.Local.Reveal()), local)
}

// content returns a document's bytes as the facility sends them, with any simulated defect.
func (h holding) content(number int, d document.Document) []byte {
	if h.defects[number] == noXML {
		return []byte("%PDF-1.7\nThis is no XML, although the facility says so.\n")
	}
	return document.Write(d)
}

// ask returns a facility's holding for a person who is identified by local IDs.
func (n Network) ask(ctx context.Context, who tefca.Assertion, at tefca.Facility) (holding, error) {
	if err := n.accept(who); err != nil {
		return holding{}, err
	}
	if err := n.pass(ctx, taking(200*time.Millisecond, 1500*time.Millisecond, who.Person.Family, who.Person.Given,
		at.ID)); err != nil {
		return holding{}, err
	}
	for _, h := range heldOf(who.Person) {
		if placeOf(h.at).id() != at.ID || !h.isCalled(strings.Fields(at.Local.Reveal())) {
			continue
		}
		if h.refuses != nil {
			return holding{}, fmt.Errorf("the simulated network: %w", h.refuses)
		}
		return h, nil
	}
	return holding{}, fmt.Errorf("the simulated network: %w", tefca.ErrRefused)
}

// isCalled reports whether all given local IDs belong to the patient.
func (h holding) isCalled(locals []string) bool {
	known := h.chart().locals
	return len(locals) > 0 && !slices.ContainsFunc(locals,
		func(local string) bool { return !slices.Contains(known, local) })
}

package ihe

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/beevik/etree"

	"recordbridge/shared/tefca"
)

// maxAround is the maximum size, in bytes, of a response without its document.
const maxAround = 1 << 20

var (
	errAnother = errors.New("not the requested document")
	errNone    = errors.New("no document was returned")
	errSize    = errors.New("the document exceeds the size limit")
)

// Retrieve implements tefca.Network.
func (n *Network) Retrieve(ctx context.Context, who tefca.Assertion, at tefca.Facility, listed tefca.Document,
	limit int64,
) ([]byte, error) {
	to, err := n.at(at)
	if err != nil {
		return nil, err
	}
	wanted, err := document(at, listed)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, n.retrieveLimit)
	defer cancel()
	got, err := n.ask(limited, who, call{
		action: actRetrieve, format: to.format, address: to.gateway.Retrieve,
		body: func(string) *etree.Element { return retrieveBody(wanted, to.format) },
		// Base64 makes a document a third longer and adds line breaks.
		packaged: true, limit: limit + limit/2 + maxAround, repeatable: false,
	})
	if err != nil {
		return nil, err
	}
	return n.retrieved(got, wanted, limit)
}

// retrieveBody builds a request for a single document (IHE ITI TF-2, 3.39.4.1.2 and 3.43.4.1.2).
func retrieveBody(wanted locator, as requestFormat) *etree.Element {
	home := cmp.Or(wanted.Origin, id(wanted.Home))
	repository := cmp.Or(wanted.Repository, id(home.oid()))

	root := etree.NewElement("RetrieveDocumentSetRequest")
	root.CreateAttr("xmlns", sharing)
	request := root.CreateElement("DocumentRequest")
	put(request, "HomeCommunityId", as.home(home))
	put(request, "RepositoryUniqueId", as.repository(repository))
	put(request, "DocumentUniqueId", as.document(wanted.Document))
	return root
}

// retrieved parses the response, which must contain only the requested document (IHE ITI TF-2, 3.39.4.2.2 and
// 3.43.4.2.2). An on-demand document has both the ID that was requested and a newly assigned ID. If the list named no
// repository, any repository is accepted.
func (n *Network) retrieved(got answer, wanted locator, limit int64) ([]byte, error) {
	if !got.body.is(sharing, "RetrieveDocumentSetResponse") {
		return nil, content(errShape)
	}
	told := got.body.only(registry, "RegistryResponse")
	documents := got.body.all(sharing, "DocumentResponse")
	code := firstError(told)
	switch {
	case len(documents) > 1:
		return nil, content(errAnother)
	case len(documents) == 0 && code == unknownDocument:
		return nil, fmt.Errorf("ihe: %w: %w", errNone, tefca.ErrNotFound)
	case len(documents) == 0 && (told.attribute("status") == statusFailure || told.attribute("status") == statusPartial):
		return nil, fmt.Errorf("ihe: %w: %w", errNone, tefca.ErrUnavailable)
	case len(documents) == 0:
		return nil, content(errNone)
	}
	came := documents[0]
	home := id(came.only(sharing, "HomeCommunityId").words())
	document := id(came.only(sharing, "DocumentUniqueId").words())
	isHere := wanted.Repository == "" || id(came.only(sharing, "RepositoryUniqueId").words()).is(wanted.Repository)
	data, err := got.binary(came.only(sharing, "Document"))
	if err == nil {
		err = got.body.shapeError()
	}
	switch {
	case err != nil:
		return nil, content(err)
	case !isHere || !document.is(wanted.Document) || !n.isWithin(home, wanted.Home):
		return nil, content(errAnother)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("ihe: %w: %w", errSize, tefca.ErrTooLarge)
	case len(data) == 0:
		return nil, content(errNone)
	}
	return data, nil
}

package facilitated

import (
	"context"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/secret"
)

// Open implements tefca.FHIRNetwork. The token endpoint is taken from the facility's signed metadata. The token is used
// only for the facility's FHIR base URL. The patient must be the one that Locate found.
func (n *Network) Open(ctx context.Context, who tefca.Assertion, at tefca.Facility) (tokens.Set, error) {
	f := n.known[at.ID]
	if f == nil {
		return tokens.Set{}, errElsewhere
	}
	granted, with, err := n.token(ctx, f, who, false)
	if err != nil {
		return tokens.Set{}, err
	}
	asked, _ := scopes(with.server.Scopes)
	ends := n.now().Add(granted.Life)
	patient, err := n.verifiedPatient(ctx, f.place.FHIRBase, granted, who.Person)
	if err != nil {
		return tokens.Set{}, err
	}
	if !at.Local.Empty() && at.Local.Reveal() != patient {
		return tokens.Set{}, errOther
	}
	return tokens.Set{
		AccessToken: granted.Access, PatientID: secret.New(patient), Scope: granted.Scope, AskedScope: asked,
		FHIRBase:      f.place.FHIRBase,
		TokenEndpoint: with.server.Token, ClientID: with.clientID, ExpiresAt: ends,
	}, nil
}

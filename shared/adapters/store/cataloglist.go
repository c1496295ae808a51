package store

import (
	"context"
	"errors"

	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// ClientAuths lists the authentication settings of all clients.
func (s Clients) ClientAuths(ctx context.Context) ([]catalog.OwnedClient, error) {
	rows, err := list(ctx, s.DB, s.Table, clientsPartition, "")
	if err != nil {
		return nil, err
	}
	all := make([]catalog.OwnedClient, 0, len(rows))
	for _, row := range rows {
		owner := listedOwner(row)
		auth, err := s.ClientAuthOf(ctx, owner, row.text("client"))
		if errors.Is(err, fault.NotFound) {
			continue // the client was removed after the list was read
		}
		if err != nil {
			return nil, err
		}
		all = append(all, catalog.OwnedClient{Owner: owner, Auth: auth})
	}
	return all, nil
}

// Registrations lists all registrations.
func (s Portals) Registrations(ctx context.Context) ([]catalog.OwnedRegistration, error) {
	rows, err := list(ctx, s.DB, s.Table, placesPartition, "")
	if err != nil {
		return nil, err
	}
	all := make([]catalog.OwnedRegistration, 0, len(rows))
	for _, row := range rows {
		owner := listedOwner(row)
		r, err := s.RegistrationAt(ctx, owner, catalog.Place{
			EndpointID: row.text("endpoint_id"), Mode: row.text("mode"), PlatformType: row.text("platform_type"),
		})
		if errors.Is(err, fault.NotFound) {
			continue // the registration was removed after the list was read
		}
		if err != nil {
			return nil, err
		}
		all = append(all, catalog.OwnedRegistration{Owner: owner, Registration: r})
	}
	return all, nil
}

// listedOwner returns a list entry's owner, or the zero tenant for a shared entry.
func listedOwner(row item) org.Tenant {
	owner, _ := parseTenant(row.text("owner"))
	if owner.OrgID == "" {
		return org.Tenant{}
	}
	return owner
}

// clientListed and registrationListed return entries of the operators' lists.
func clientListed(owner org.Tenant, id string) item {
	row := newItem(clientListedKey(owner, id))
	row.setText("owner", ownerKey(owner))
	row.setText("client", id)
	return row
}

func registrationListed(owner org.Tenant, place catalog.Place) item {
	row := newItem(registrationListedKey(owner, place))
	row.setText("owner", ownerKey(owner))
	row.setText("endpoint_id", place.EndpointID)
	row.setText("mode", place.Mode)
	row.setText("platform_type", place.PlatformType)
	return row
}

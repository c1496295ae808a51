// Package getcatalog serves GET /bridge/catalog?public_id= (docs/openapi.yaml), which returns the record of one brand,
// portal or endpoint. If an ID was merged into another, the response contains the successor's record. Browsers call
// this endpoint with only the public ID. The endpoint is read-only. Responses never contain URLs of FHIR servers or the
// service's client registrations.
package getcatalog

import (
	"context"
	"net/http"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Route is the endpoint's path.
const Route = "/bridge/catalog"

// Deps holds the endpoint's dependencies.
type Deps struct {
	API     *httpapi.API
	Auth    httpapi.PublicAuth
	Records Records
	// Facilities looks up facilities in TEFCA networks, which brand lists don't include.
	Facilities Facilities
}

// Facilities looks up facilities by directory ID; directory.Facilities implements it.
type Facilities interface {
	Facility(mode org.Mode, id string) (tefca.Facility, bool)
}

// facility is the response for a facility in a TEFCA network.
type facility struct {
	DirectoryID  string     `json:"tefca_directory_id"`
	Name         string     `json:"name"`
	PlatformType string     `json:"platform_type"`
	Locations    []location `json:"locations"`
}

type location struct {
	City  string `json:"city"`
	State string `json:"state"`
}

// Records reads a mode's catalogue records; serve.Records implements it. It returns fault.NotFound for nonexistent
// records.
type Records interface {
	Brand(ctx context.Context, mode, id string) (record.Brand, error)
	Portal(ctx context.Context, mode, id string) (record.Portal, error)
	Endpoint(ctx context.Context, mode, id string) (record.Endpoint, health.Status, error)
}

type request struct {
	APIMode          string `query:"api_mode"`
	BrandID          string `query:"brand_id"`
	PortalID         string `query:"portal_id"`
	EndpointID       string `query:"endpoint_id"`
	TEFCADirectoryID string `query:"tefca_directory_id"`
}

// endpoint is the response for an endpoint, including its health.
type endpoint struct {
	record.Endpoint

	Health health.Status `json:"health"`
}

// New returns the endpoint's handler.
func New(d Deps) http.Handler {
	return d.API.Serve(Route, httpapi.Methods{http.MethodGet: httpapi.Browser(d.Auth, d.get)})
}

func (d Deps) get(ctx context.Context, caller org.Caller, in request) (any, error) {
	mode := string(caller.Tenant.Mode)
	if in.APIMode != "" && in.APIMode != mode {
		return nil, fault.BadRequest("api_mode must match the mode of public_id.").About("api_mode")
	}
	given := 0
	for _, id := range []string{in.BrandID, in.PortalID, in.EndpointID, in.TEFCADirectoryID} {
		if id != "" {
			given++
		}
	}
	if given != 1 {
		return nil, fault.BadRequest("Exactly one of brand_id, portal_id, endpoint_id and tefca_directory_id is required.")
	}
	missing := fault.Missing("Record not found.")
	id, ok := ids.ParseUUID(in.BrandID + in.PortalID + in.EndpointID)
	switch {
	case in.TEFCADirectoryID != "":
		f, isListed := d.Facilities.Facility(caller.Tenant.Mode, in.TEFCADirectoryID)
		if !isListed {
			return nil, missing
		}
		return facility{
			DirectoryID: f.ID, Name: f.Name, PlatformType: connection.TEFCAPlatform,
			Locations: []location{{City: f.City, State: f.State}},
		}, nil
	case !ok:
		return nil, missing
	case in.BrandID != "":
		return d.Records.Brand(ctx, mode, id)
	case in.PortalID != "":
		return d.Records.Portal(ctx, mode, id)
	}
	e, fares, err := d.Records.Endpoint(ctx, mode, id)
	return endpoint{Endpoint: e, Health: fares}, err
}

package sandbox

import (
	"log/slog"
	"net/http"
	"strings"

	"recordbridge/infra/sandbox/fhirserver"
	"recordbridge/infra/sandbox/identity"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/switches"
	"recordbridge/infra/sandbox/udap"
	"recordbridge/shared/tefca/people"
)

type operation int

const (
	opNone operation = iota
	opDiscovery
	opCapability
	opRead
	opSearch
	opEverything
	opPage  // request for a later page of search results or of a complete record, at the base URL
	opBatch // a POST to the base URL
	opAttachment
	opAuthorize
	opAsset
	opToken
	opRevoke
	opIntrospect
	opKeys
	opUserinfo
	opMovedToken
	opNetwork // a request to the UDAP server
)

// handler routes a request to the default portal at the mount point or to a portal with switches in its path. The
// identity provider does not belong to any portal; only the switches on its own page affect it.
type handler struct {
	mount    string // path of the base URL
	provider *identity.Server
	site     site
}

// ServeHTTP forwards the request to the portal selected by its path.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := h.relative(r.URL.Path)
	if below, ok := strings.CutPrefix(path, strings.TrimPrefix(people.Issuer, "/")+"/"); ok {
		h.provider.Serve(w, r, below)

		return
	}
	below, switched := strings.CutPrefix(path, "with")
	if !switched || below != "" && below[0] != '/' {
		h.site.serve(w, r, path)

		return
	}
	h.serveWith(w, r, strings.TrimPrefix(below, "/"))
}

// site is a portal: an authorization server and a FHIR server under one base URL, with the portal's simulated faults.
type site struct {
	base        string
	portal      *oauth.Server
	records     *fhirserver.Server
	with        switches.Set
	portalState portalState
	log         *slog.Logger
	network     *udap.Server
	// tokenMoved reports whether the token endpoint has moved to its second URL.
	tokenMoved bool
	// inBatch reports whether the request is part of a batch. A batch is authorised as a whole, not per request.
	inBatch bool
}

func (s site) serve(w http.ResponseWriter, r *http.Request, path string) {
	op, args := route(path)
	if op == opPage && r.Method == http.MethodPost && s.with.Has(switches.Batch) {
		op = opBatch
	}
	if op != opNone && op != opNetwork && r.Method != op.method() {
		w.Header().Set("Allow", op.method())
		w.WriteHeader(http.StatusMethodNotAllowed)

		return
	}
	if s.with.Empty() {
		s.call(w, r, op, args)

		return
	}
	s.spoiled(w, r, op, args)
}

func (s site) call(w http.ResponseWriter, r *http.Request, op operation, args []string) {
	switch op {
	case opNone, opPage:
		s.records.NotFound(w)
	case opBatch:
		s.batch(w, r)
	case opKeys:
		if !s.portal.Keys(w, r) {
			s.records.NotFound(w)
		}
	case opUserinfo:
		if !s.portal.Userinfo(w, r) {
			s.records.NotFound(w)
		}
	case opDiscovery:
		s.portal.Discovery(w, r)
	case opCapability:
		s.records.Capability(w, r)
	case opRead:
		s.records.Read(w, r, args[0], args[1])
	case opSearch:
		s.records.Search(w, r, args[0])
	case opEverything:
		s.records.Everything(w, r, args[1])
	case opAttachment:
		s.records.Attachment(w, r, args[1])
	case opAuthorize:
		s.portal.Authorize(w, r)
	case opAsset:
		s.portal.Asset(w, r)
	case opToken, opMovedToken:
		if s.tokenMoved != (op == opMovedToken) {
			s.records.NotFound(w)

			return
		}
		s.portal.Token(w, r)
	case opRevoke:
		s.portal.Revoke(w, r)
	case opIntrospect:
		s.portal.Introspect(w, r)
	case opNetwork:
		s.network.Serve(w, r, args[0])
	}
}

// relative removes the mount point from the path. The path may begin with any suffix of the mount point, such as
// /v1/sandbox or /sandbox. API Gateway passes paths without the stage, and a custom domain may map a different stage.
func (h *handler) relative(path string) string {
	for mount := h.mount; mount != ""; {
		if rest, ok := strings.CutPrefix(path, mount+"/"); ok {
			return rest
		}
		cut := strings.IndexByte(mount[1:], '/')
		if cut < 0 {
			break
		}
		mount = mount[1+cut:]
	}

	return strings.TrimPrefix(path, "/")
}

// route returns the operation for a path below the mount point and, for FHIR, the resource type and ID.
func route(path string) (op operation, args []string) {
	switch path {
	case "fhir/.well-known/smart-configuration":
		return opDiscovery, nil
	case "fhir/.well-known/udap", "udap/anchor", "udap/certificate", "udap/register", "udap/token":
		return opNetwork, []string{path}
	case "fhir/metadata":
		return opCapability, nil
	case "fhir", "fhir/":
		return opPage, []string{""}
	case "oauth/authorize":
		return opAuthorize, nil
	case "oauth/token":
		return opToken, nil
	case "oauth/token/moved":
		return opMovedToken, nil
	case "oauth/userinfo":
		return opUserinfo, nil
	case "oauth/jwks":
		return opKeys, nil
	case "oauth/revoke":
		return opRevoke, nil
	case "oauth/introspect":
		return opIntrospect, nil
	}
	if strings.HasPrefix(path, "oauth/assets/") {
		return opAsset, nil
	}
	below, isFHIR := strings.CutPrefix(path, "fhir/")
	args = strings.Split(below, "/")
	switch {
	case !isFHIR || args[0] == "" || args[len(args)-1] == "":
		return opNone, nil
	case len(args) == 1:
		return opSearch, args
	case len(args) == 2 && args[0] == "attachments":
		return opAttachment, []string{"Binary", args[1]}
	case len(args) == 2:
		return opRead, args
	case len(args) == 3 && args[0] == "Patient" && args[2] == "$everything":
		return opEverything, args[:2]
	default:
		return opNone, nil
	}
}

func (op operation) method() string {
	switch op {
	case opToken, opMovedToken, opRevoke, opIntrospect, opBatch:
		return http.MethodPost
	case opNone, opDiscovery, opCapability, opRead, opSearch, opEverything, opPage, opAttachment, opAuthorize, opAsset,
		opKeys, opUserinfo, opNetwork:
		return http.MethodGet
	default:
		return http.MethodGet
	}
}

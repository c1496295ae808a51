package sandboxehr

import (
	"net/http"
	"strings"

	"recordbridge/functions/sandboxehr/fhirserver"
	"recordbridge/functions/sandboxehr/oauth"
)

// operation is what a request asks for.
type operation int

const (
	opNone operation = iota
	opDiscovery
	opCapability
	opRead
	opSearch
	opAuthorize
	opAsset
	opToken
	opRevoke
	opIntrospect
)

type handler struct {
	mount   string // path of the BaseURL
	portal  *oauth.Server
	records *fhirserver.Server
	faults  faultSwitches
}

// ServeHTTP finds the operation, lets the fault switches answer in its place, and calls it.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op, args := route(h.relative(r.URL.Path))
	if op != opNone && r.Method != op.method() {
		w.Header().Set("Allow", op.method())
		w.WriteHeader(http.StatusMethodNotAllowed)

		return
	}
	if h.faults.answered(w, r, op) {
		return
	}
	switch op {
	case opNone:
		h.records.NotFound(w)
	case opDiscovery:
		h.portal.Discovery(w, r)
	case opCapability:
		h.records.Capability(w, r)
	case opRead:
		h.records.Read(w, r, args[0], args[1])
	case opSearch:
		h.records.Search(w, r, args[0])
	case opAuthorize:
		h.portal.Authorize(w, r)
	case opAsset:
		h.portal.Asset(w, r)
	case opToken:
		h.portal.Token(w, r)
	case opRevoke:
		h.portal.Revoke(w, r)
	case opIntrospect:
		h.portal.Introspect(w, r)
	}
}

// relative cuts the mount point off. API Gateway shows the path without the stage and a custom domain may map
// another one, so every tail of the mount's path is accepted: /v1/sandbox, /sandbox.
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

// route names the operation of a path below the mount point, with the resource type and id for FHIR.
func route(path string) (op operation, args []string) {
	switch path {
	case "fhir/.well-known/smart-configuration":
		return opDiscovery, nil
	case "fhir/metadata":
		return opCapability, nil
	case "oauth/authorize":
		return opAuthorize, nil
	case "oauth/token":
		return opToken, nil
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
	case len(args) == 2:
		return opRead, args
	default:
		return opNone, nil
	}
}

// method is the only one that the operation takes.
func (op operation) method() string {
	switch op {
	case opToken, opRevoke, opIntrospect:
		return http.MethodPost
	case opNone, opDiscovery, opCapability, opRead, opSearch, opAuthorize, opAsset:
		return http.MethodGet
	default:
		return http.MethodGet
	}
}

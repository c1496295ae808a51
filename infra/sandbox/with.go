package sandbox

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"

	"recordbridge/infra/sandbox/fhirserver"
	"recordbridge/infra/sandbox/switches"
)

// tokenUses names the counter of token requests, which determines when the token URL moves.
const tokenUses = "token uses"

// switchList is the body of the GET /sandbox/with response and of the 404 response for an unknown switch.
type switchList struct {
	Error    string            `json:"error,omitempty"`
	Usage    string            `json:"usage"`
	FHIRBase string            `json:"fhir_base,omitempty"`
	Known    []switches.Switch `json:"switches"`
}

// serveWith serves paths below /with/: the list of switches, or the portal whose switches the first path segment
// specifies.
func (h *handler) serveWith(w http.ResponseWriter, r *http.Request, below string) {
	spec, path, isPortal := strings.Cut(below, "/")
	list := switchList{
		Usage: h.site.base + "/with/<switch>[:<value>][,<switch>…]/fhir", Known: switches.Table(),
	}
	if spec == "" && path == "" {
		h.writeList(w, http.StatusOK, list)

		return
	}
	set, err := switches.Parse(spec)
	if err != nil {
		list.Error = err.Error()
		h.writeList(w, http.StatusNotFound, list)

		return
	}
	there, err := h.at(r.Context(), spec, set)
	if err != nil {
		h.site.log.ErrorContext(r.Context(), "sandbox switches failed", slog.Any("error", err))
		w.WriteHeader(http.StatusInternalServerError)

		return
	}
	if !isPortal || path == "" {
		list.FHIRBase = there.base + "/fhir"
		h.writeList(w, http.StatusOK, list)

		return
	}
	there.serve(w, r, path)
}

// at returns the portal with the switches in spec. The method is cheap, because it reads stored state only if the
// portal's token URL moves.
func (h *handler) at(ctx context.Context, spec string, set switches.Set) (site, error) {
	there := h.site
	there.portalState.site = spec
	there.with = set
	there.base = h.site.base + "/with/" + spec
	if uses := there.with.Number(switches.TokenMoves); uses > 0 {
		used, err := there.portalState.counted(ctx, tokenUses)
		if err != nil {
			return site{}, err
		}
		there.tokenMoved = used >= uses
	}
	there.portal = h.site.portal.At(there.base, spec, there.with, there.tokenMoved)
	there.network = h.site.network.At(there.base, spec, there.with, there.portal)
	there.records = h.site.records.At(
		there.base+"/fhir", fhirserver.SecurityURLs(there.portal.Endpoints()), authorizer(there.portal), fhirserver.Options{
			Everything: there.with.Has(switches.Everything), Attachments: servesAttachments(there.with),
			Version: fhirserver.Version(there.with.Text(switches.Version)), SearchBy: there.with.Text(switches.SearchBy),
			AllTypes: there.with.Has(switches.AllTypes), Batch: there.with.Has(switches.Batch),
			Unlisted: there.with.Types(switches.Unlisted), HidesIncludes: there.with.Has(switches.UnlistedIncludes),
		},
	)

	return there, nil
}

func (h *handler) writeList(w http.ResponseWriter, status int, list switchList) {
	raw, err := json.Marshal(list)
	if err != nil {
		h.site.log.Error("encode list of switches", slog.Any("error", err))
		w.WriteHeader(http.StatusInternalServerError)

		return
	}
	answerFault(w, status, "application/json", string(raw))
}

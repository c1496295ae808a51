package oauth

import (
	"encoding/json"
	"log/slog"
	"net/http"
)

// oauthError is an error response as defined in RFC 6749 §4.1.2.1 and §5.2. The description never contains client
// input, except for plain parameter names.
type oauthError struct{ code, description string }

type responder struct{ log *slog.Logger }

func (a responder) writeJSON(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		a.log.Error("encode oauth answer", slog.Any("error", err))
		w.WriteHeader(http.StatusInternalServerError)

		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// The error is ignored, because the client may have disconnected.
	_, _ = w.Write(raw)
}

// writeError responds with status 401 if client authentication failed, and with status 400 for any other error.
func (a responder) writeError(w http.ResponseWriter, problem oauthError) {
	status := http.StatusBadRequest
	if problem.code == "invalid_client" {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="sandbox"`)
	}
	a.writeJSON(w, status, map[string]string{"error": problem.code, "error_description": problem.description})
}

// fail logs err and responds with status 500. The response does not reveal the cause.
func (a responder) fail(w http.ResponseWriter, r *http.Request, err error) {
	a.log.ErrorContext(r.Context(), "sandbox authorization server failed", slog.Any("error", err))
	a.writeJSON(w, http.StatusInternalServerError, map[string]string{
		"error": "server_error", "error_description": "The sandbox could not complete the request. Try again.",
	})
}

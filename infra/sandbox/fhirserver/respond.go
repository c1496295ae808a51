package fhirserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"mime"
	"net/http"
	"strings"
)

// issueCode is a FHIR R4 IssueType (https://hl7.org/fhir/R4/valueset-issue-type.html).
type issueCode string

const (
	issueLogin        issueCode = "login"
	issueForbidden    issueCode = "forbidden"
	issueNotFound     issueCode = "not-found"
	issueNotSupported issueCode = "not-supported"
	issueInvalid      issueCode = "invalid"
	issueException    issueCode = "exception"
)

type (
	operationOutcome struct {
		ResourceType string         `json:"resourceType"`
		Issue        []outcomeIssue `json:"issue"`
	}
	outcomeIssue struct {
		Severity    string    `json:"severity"`
		Code        issueCode `json:"code"`
		Diagnostics string    `json:"diagnostics"`
	}
)

func (s *Server) outcome(w http.ResponseWriter, status int, code issueCode, diagnostics string) {
	s.writeFHIR(w, status, operationOutcome{
		ResourceType: "OperationOutcome",
		Issue:        []outcomeIssue{{Severity: "error", Code: code, Diagnostics: diagnostics}},
	})
}

// NotFound writes the response for a path that is not a FHIR interaction.
func (s *Server) NotFound(w http.ResponseWriter) {
	s.outcome(w, http.StatusNotFound, issueNotFound, "Not found.")
}

func (s *Server) writeFHIR(w http.ResponseWriter, status int, body any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		s.log.Error("encode fhir answer", slog.Any("error", err))
		w.WriteHeader(http.StatusInternalServerError)

		return
	}
	s.write(w, status, "application/fhir+json; charset=utf-8", out.Bytes())
}

func (s *Server) write(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// The error is ignored, because the client may have disconnected.
	_, _ = w.Write(body)
}

// writeBinary writes the Binary's content if the Accept header requests the content's own type instead of FHIR
// (https://hl7.org/fhir/R4/binary.html#rest). If writeBinary returns false, the caller must send the resource.
func (s *Server) writeBinary(w http.ResponseWriter, r *http.Request, body json.RawMessage) bool {
	var head struct {
		ContentType string `json:"contentType"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return false
	}
	own, _, err := mime.ParseMediaType(head.ContentType)
	if err != nil || !wantsRaw(r.Header.Get("Accept"), own) {
		return false
	}

	return s.writeContent(w, body)
}

// writeContent writes a Binary's content. If the content can't be decoded, writeContent returns false without writing a
// response.
func (s *Server) writeContent(w http.ResponseWriter, body json.RawMessage) bool {
	var content struct {
		ContentType string `json:"contentType"`
		Data        string `json:"data"`
	}
	if err := json.Unmarshal(body, &content); err != nil {
		return false
	}
	data, err := base64.StdEncoding.DecodeString(content.Data)
	if err != nil {
		return false
	}
	// Clinical notes may be HTML. If a browser opens such a note, the sandbox directive prevents scripts from running.
	w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	s.write(w, http.StatusOK, content.ContentType, data)

	return true
}

func wantsRaw(accept, own string) bool {
	family, _, _ := strings.Cut(own, "/")
	raw := false
	for one := range strings.SplitSeq(accept, ",") {
		mediaType, _, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		switch mediaType {
		case "application/fhir+json", "application/json", "application/json+fhir":
			return false
		case own, family + "/*":
			raw = true
		}
	}

	return raw
}

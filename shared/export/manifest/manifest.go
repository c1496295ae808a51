// Package manifest defines the signed list of an export's files (docs/guide/manifest.md, ADR 58). The package contains
// only the document and its signature. Package collect stores the document as one of the export's objects.
package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"recordbridge/shared/export"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/release"
)

// version is the version of the document's format.
const version = 1

// product is the name of the software that signs manifests.
const product = "recordbridge"

// maxServerText is the maximum length in bytes of a text that the server states about itself.
const maxServerText = 200

// Server describes the server whose record was collected. A field is empty if it is unknown.
type Server struct {
	FHIRBase    string `json:"fhir_base,omitempty"`
	FHIRVersion string `json:"fhir_version,omitempty"`
	Software    string `json:"software,omitempty"`
	Network     string `json:"network,omitempty"` // TEFCA, for a record located through TEFCA
}

// TEFCA is the Network of a record located through TEFCA.
const TEFCA = "tefca"

// SoftwareOf returns the name and version of a server's software for use in Server. name and version may be any text
// that the server stated.
func SoftwareOf(name, version string) string {
	return strings.TrimSpace(printable(name[:min(len(name), maxServerText)] + " " + version))
}

// document is the content of a manifest.
type document struct {
	Version      int               `json:"version"`
	TaskID       string            `json:"task_id"`
	OrgID        string            `json:"org_id"`
	Mode         org.Mode          `json:"mode"`
	ConnectionID string            `json:"org_connection_id"`
	Server       Server            `json:"server"`
	StartedAt    string            `json:"started_at"`  // RFC 3339
	FinishedAt   string            `json:"finished_at"` // RFC 3339
	Options      options           `json:"options"`
	Software     software          `json:"software"`
	Files        []file            `json:"files"`
	Counts       map[string]int    `json:"counts"`
	Complete     bool              `json:"complete"`
	Missing      map[string]string `json:"missing,omitempty"`
}

// options holds the request's options, named as in the request.
type options struct {
	Since    string          `json:"since,omitempty"`
	Types    []string        `json:"resource_types,omitempty"`
	Formats  []export.Format `json:"formats,omitempty"`
	Fixtures *fixtures       `json:"fixtures,omitempty"`
}

type fixtures struct {
	TEFCA string `json:"tefca_ccda"`
}

type software struct {
	Name    string `json:"name"`
	Release string `json:"release"`
}

type file struct {
	Name        string `json:"name"`
	ContentType string `json:"content_type"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"`
	Resources   int    `json:"resources"`
}

// Encode returns the manifest of a task whose files, outcome and statistics are set. server's version may be any
// text that the server stated. releaseName is the name of the service's release.
func Encode(task export.Task, server Server, releaseName string, finished time.Time) ([]byte, error) {
	server.FHIRVersion = printable(server.FHIRVersion)
	missing := task.Shortfall().Missing
	made := document{
		Version: version, TaskID: task.ID, OrgID: task.Tenant.OrgID, Mode: task.Tenant.Mode,
		ConnectionID: task.ConnectionID, Server: server, StartedAt: moment(task.Began()), FinishedAt: moment(finished),
		Options: optionsOf(task.Options), Software: software{Name: product, Release: releaseOf(releaseName)},
		Files: []file{}, Counts: task.Stats.TotalByResourceType, Complete: len(missing) == 0, Missing: missing,
	}
	for _, f := range task.Files {
		listed := file{Name: f.Name, ContentType: f.ContentType, Bytes: f.Bytes, SHA256: f.SHA256}
		if f.Format != export.Report {
			listed.Resources = task.Stats.TotalResources
		}
		made.Files = append(made.Files, listed)
	}
	body, err := json.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return body, nil
}

func optionsOf(o export.Options) options {
	set := options{Types: o.Types, Formats: o.Formats}
	if !o.Since.IsZero() {
		set.Since = moment(o.Since)
	}
	if o.Fixture != "" {
		set.Fixtures = &fixtures{TEFCA: o.Fixture}
	}
	return set
}

// releaseOf returns the version and commit of a named release, or "unknown" for a service that was started without one.
func releaseOf(name string) string {
	known := release.Parse(name)
	if known == (release.Release{}) {
		return "unknown"
	}
	return known.Version + "-" + known.Commit
}

func moment(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// printable returns text without unprintable characters, shortened to maxServerText bytes.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text[:min(len(text), 2*maxServerText)])
	return strings.ToValidUTF8(text[:min(len(text), maxServerText)], "")
}

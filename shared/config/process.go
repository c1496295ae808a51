package config

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Process is what a function is wired to: production's comes from bootstrap/main.go, a test's from the test, and
// everything in between is the same code.
type Process struct {
	AWS    aws.Config
	Logger *slog.Logger
	Now    func() time.Time
	// HTTP reaches servers outside AWS. Only the functions that call some have it; in production it is safehttp's.
	HTTP interface {
		Do(r *http.Request) (*http.Response, error)
	}
}

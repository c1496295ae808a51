// Package runfile writes .local/run.json: what `make run` started and with which keys, for scripts and other programs.
// It owns the shape of that file (README.md, "What make run shows") and its protection, and knows nothing of how the
// values came about.
package runfile

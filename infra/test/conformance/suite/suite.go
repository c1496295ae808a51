// Package suite runs the scripts of package corpus against third-party servers, one server at a time. It reports every
// difference that is not in the list of accepted differences, and every list entry that is no longer needed.
package suite

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/infra/test/conformance/corpus"
	"recordbridge/infra/test/conformance/replay"
	"recordbridge/shared/words/ids"
)

// AccessKey and SecretKey are the credentials that sign every request. Servers that verify signatures are started with
// both keys.
const (
	AccessKey = "conformance"
	SecretKey = "local"
)

const (
	atOnce   = 8
	callTime = 90 * time.Second
)

// Options holds the parameters of Run.
type Options struct {
	Servers []Server
	Folder  string          // folder in which the servers are installed
	Scripts []corpus.Script // scripts to run; a server runs only those for its services
	List    string          // YAML list of accepted differences
	Part    string          // limits reports of stale entries to scripts whose ID contains Part
	Verbose bool            // true to print accepted differences as well
	Out     io.Writer
}

type run struct {
	Options

	listed []known
	agreed map[string]bool // scripts that passed on at least one server
	used   []atomic.Bool   // true for each accepted difference that occurred, by its index in the list
	client *http.Client
}

// Run tests the servers one at a time, because some scripts measure time and the machine may have few processors. It
// returns an error if there is an unlisted difference or a stale list entry, or if a server can't start.
func Run(ctx context.Context, o Options) error {
	rows, err := listed(o.List)
	if err != nil {
		return err
	}
	r := &run{
		Options: o, listed: rows, agreed: map[string]bool{}, used: make([]atomic.Bool, len(rows)),
		client: &http.Client{
			Timeout: callTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	problems := 0
	for _, s := range o.Servers {
		n, err := r.play(ctx, s)
		if err != nil {
			return err
		}
		problems += n
	}
	problems += r.stale()
	r.printf("%d scripts, %d servers, %d problems; at least one server agrees on %d scripts\n",
		len(r.Scripts), len(o.Servers), problems, len(r.agreed))
	if problems > 0 {
		return fmt.Errorf("%d unlisted differences or stale rows", problems)
	}
	return nil
}

// stale reports accepted differences that did not occur, and returns their number. It considers only this run's servers
// and scripts.
func (r *run) stale() int {
	count := 0
	for i, row := range r.listed {
		asked := strings.Contains(row.script, r.Part) &&
			slices.ContainsFunc(r.Servers, func(s Server) bool { return s.Name == row.server })
		if asked && !r.used[i].Load() {
			count++
			r.printf("STALE: %s, %s: remove this entry from the list\n", row.script, row.server)
		}
	}
	return count
}

type result struct {
	script string
	err    error // nil if the script passed
}

// play starts a server and runs the scripts that apply to its services. It returns the number of unlisted differences.
func (r *run) play(ctx context.Context, s Server) (int, error) {
	began := time.Now()
	server, err := s.start(ctx, r.Folder, r.client)
	if err != nil {
		return 0, err
	}
	defer server.stop()
	party := replay.Target{
		Name: s.Name, URL: server.url, AccessKey: AccessKey, SecretKey: SecretKey, Client: r.client,
		NewID: newID,
	}
	its := slices.DeleteFunc(slices.Clone(r.Scripts), func(script corpus.Script) bool {
		return !slices.Contains(s.Services, script.Service)
	})
	results := make([]result, len(its))
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, script := range its {
		group.Go(func() error {
			results[i] = result{script.ID, replay.Play(limited, party, script)}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return 0, fmt.Errorf("%s: %w", s.Name, err)
	}
	agreed, known, unlisted := 0, 0, 0
	for _, found := range results {
		switch {
		case found.err == nil:
			agreed++
			r.agreed[found.script] = true
		case r.isListed(found.script, s.Name):
			known++
			if r.Verbose {
				r.printf("listed: %s, %s: %v\n", found.script, s.Name, found.err)
			}
		default:
			unlisted++
			r.printf("UNLISTED: %s, %s: %v\n", found.script, s.Name, found.err)
		}
	}
	r.printf("%-14s played %3d scripts: agrees on %d, %d listed differences, %d unlisted (%s)\n",
		s.Name, len(its), agreed, known, unlisted, time.Since(began).Round(time.Second))
	return unlisted, nil
}

func (r *run) isListed(script, server string) bool {
	found := false
	for i, d := range r.listed {
		if d.covers(script, server) {
			r.used[i].Store(true)
			found = true
		}
	}
	return found
}

func (r *run) printf(format string, arguments ...any) {
	_, _ = fmt.Fprintf(r.Out, format, arguments...) // ignore errors: a closed terminal does not affect the result
}

// newID returns a random ID of lower-case letters and digits, which is valid in a bucket name.
func newID() string { return "c" + strings.ToLower(ids.Random()[:8]) }

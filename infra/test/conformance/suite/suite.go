// Package court owns a session of judging: it starts other people's servers, plays the scripts of package corpus that
// concern them, and reports every script on which one differs and which no row of the list excuses. A row that nothing
// needs is reported, too, so that the list only gets longer with a reason and shorter by itself.
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
	"recordbridge/shared/ids"
)

// AccessKey and SecretKey sign every request; a judge that checks signatures is started with them.
const (
	AccessKey = "judge"
	SecretKey = "local"
)

const (
	atOnce   = 8
	callTime = 90 * time.Second
)

// Options are what Hold needs.
type Options struct {
	Judges  []Judge
	Folder  string          // where the judges are installed
	Scripts []corpus.Script // already chosen; a judge plays those of its services
	List    string          // text of the document with the section "Listed differences"
	Part    string          // rows about other scripts than those that hold this are not expected to be needed
	Verbose bool            // tells the listed differences, too
	Out     io.Writer
}

// court is one session of judging.
type court struct {
	Options

	listed []known
	agreed map[string]bool // scripts that a judge has agreed with
	needed []atomic.Bool   // of each listed difference
	client *http.Client
}

// Hold asks the judges one after the other, since the machine may have few processors and some scripts measure time.
// Its error says that something is unlisted, that a row is needless, or that a judge cannot be started.
func Hold(ctx context.Context, o Options) error {
	rows, err := listed(o.List)
	if err != nil {
		return err
	}
	c := &court{Options: o, listed: rows, agreed: map[string]bool{}, needed: make([]atomic.Bool, len(rows)), client: &http.Client{
		Timeout: callTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	problems := 0
	for _, j := range o.Judges {
		n, err := c.hear(ctx, j)
		if err != nil {
			return err
		}
		problems += n
	}
	problems += c.needless()
	c.printf("%d scripts, %d judges, %d problems; at least one judge agrees on %d scripts\n",
		len(c.Scripts), len(o.Judges), problems, len(c.agreed))
	if problems > 0 {
		return fmt.Errorf("%d unlisted differences or needless rows", problems)
	}
	return nil
}

// needless reports the rows about the judges and scripts of this session that excused nothing.
func (c *court) needless() int {
	count := 0
	for i, row := range c.listed {
		asked := strings.Contains(row.script, c.Part) &&
			slices.ContainsFunc(c.Judges, func(j Judge) bool { return j.Name == row.judge })
		if asked && !c.needed[i].Load() {
			count++
			c.printf("NEEDLESS: %s, %s: take this row out of the list\n", row.script, row.judge)
		}
	}
	return count
}

// verdict is what came of one script.
type verdict struct {
	script string
	err    error // nil for agreement
}

// hear plays every script of a judge's services and gives the number of unlisted differences.
func (c *court) hear(ctx context.Context, j Judge) (int, error) {
	began := time.Now()
	server, err := j.start(ctx, c.Folder, c.client)
	if err != nil {
		return 0, err
	}
	defer server.stop()
	party := replay.Party{Name: j.Name, URL: server.url, AccessKey: AccessKey, SecretKey: SecretKey, Client: c.client, NewID: newID}
	mine := slices.DeleteFunc(slices.Clone(c.Scripts), func(s corpus.Script) bool {
		return !slices.Contains(j.Services, s.Service)
	})
	verdicts := make([]verdict, len(mine))
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, script := range mine {
		group.Go(func() error {
			verdicts[i] = verdict{script.ID, replay.Play(limited, party, script)}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return 0, fmt.Errorf("%s: %w", j.Name, err)
	}
	agreed, known, unlisted := 0, 0, 0
	for _, v := range verdicts {
		switch {
		case v.err == nil:
			agreed++
			c.agreed[v.script] = true
		case c.isListed(v.script, j.Name):
			known++
			if c.Verbose {
				c.printf("listed: %s, %s: %v\n", v.script, j.Name, v.err)
			}
		default:
			unlisted++
			c.printf("UNLISTED: %s, %s: %v\n", v.script, j.Name, v.err)
		}
	}
	c.printf("%-14s judged %3d scripts: agrees on %d, %d listed differences, %d unlisted (%s)\n",
		j.Name, len(mine), agreed, known, unlisted, time.Since(began).Round(time.Second))
	return unlisted, nil
}

func (c *court) isListed(script, judge string) bool {
	found := false
	for i, d := range c.listed {
		if d.covers(script, judge) {
			c.needed[i].Store(true)
			found = true
		}
	}
	return found
}

func (c *court) printf(format string, arguments ...any) {
	_, _ = fmt.Fprintf(c.Out, format, arguments...) // a closed terminal changes no verdict
}

// newID is good for the name of a bucket: lower-case letters and digits.
func newID() string { return "j" + strings.ToLower(ids.Random()[:8]) }

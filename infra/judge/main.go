// Command judge has the embedded AWS judged: it starts other people's servers, plays the scripts that ours has to pass
// (a test of this package plays them against ours) and reports every script on which a server differs and which
// docs/embedded-aws.md does not list with a reason. A row of that list which nothing needs any more is reported, too.
//
//	go run ./infra/judge -judges DIR [-judge NAME] [-run PART] [-list FILE] [-v]
//
// DIR is where .ci/judges installed them. It ends with status 1 when something is unlisted or a judge is missing.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/infra/judge/corpus"
	"recordbridge/infra/judge/replay"
	"recordbridge/shared/ids"
)

const (
	accessKey = "judge"
	secretKey = "local"
	atOnce    = 8
	callTime  = 90 * time.Second
)

//go:embed scripts
var files embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

type options struct {
	folder, judge, part, document string
	verbose                       bool
}

// court is one session of judging.
type court struct {
	options

	out     io.Writer
	scripts []corpus.Script
	listed  []difference
	needed  []atomic.Bool // of each listed difference
	client  *http.Client
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	c := court{out: out, client: &http.Client{Timeout: callTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	flags := flag.NewFlagSet("judge", flag.ContinueOnError)
	flags.StringVar(&c.folder, "judges", "", "folder in which .ci/judges installed the judges")
	flags.StringVar(&c.judge, "judge", "", "ask this judge only")
	flags.StringVar(&c.part, "run", "", "play only scripts whose id holds this")
	flags.StringVar(&c.document, "list", "docs/embedded-aws.md", "document with the table of listed differences")
	flags.BoolVar(&c.verbose, "v", false, "tell the listed differences, too")
	if err := flags.Parse(arguments); err != nil {
		return fmt.Errorf("read the flags: %w", err)
	}
	text, err := os.ReadFile(c.document) //nolint:gosec // the flag of whoever runs us
	if err != nil {
		return fmt.Errorf("read the listed differences: %w", err)
	}
	if c.listed, err = listed(string(text)); err != nil {
		return fmt.Errorf("%s: %w", c.document, err)
	}
	c.needed = make([]atomic.Bool, len(c.listed))
	scripts, err := fs.Sub(files, "scripts")
	if err != nil {
		return fmt.Errorf("find the scripts: %w", err)
	}
	if c.scripts, err = corpus.Load(scripts); err != nil {
		return fmt.Errorf("load the scripts: %w", err)
	}
	return c.judgeAll(ctx)
}

// judgeAll asks the judges one after the other: the machine has few processors, and some scripts measure time.
func (c *court) judgeAll(ctx context.Context) error {
	unlisted := 0
	for _, j := range judges() {
		if c.judge != "" && !strings.EqualFold(c.judge, j.name) {
			continue
		}
		n, err := c.hear(ctx, j)
		if err != nil {
			return err
		}
		unlisted += n
	}
	for i, d := range c.listed {
		asked := (c.judge == "" || strings.EqualFold(c.judge, d.judge)) && strings.Contains(d.script, c.part)
		if asked && !c.needed[i].Load() {
			unlisted++
			c.printf("no difference any more: %s, %s: take it out of %s\n", d.script, d.judge, c.document)
		}
	}
	c.printf("%d scripts, %d problems\n", len(c.scripts), unlisted)
	if unlisted > 0 {
		return fmt.Errorf("%d unlisted differences or needless rows", unlisted)
	}
	return nil
}

// verdict is what came of one script.
type verdict struct {
	script string
	err    error // nil for agreement
}

// hear plays every script of a judge's services and gives the number of unlisted differences.
func (c *court) hear(ctx context.Context, j judge) (int, error) {
	began := time.Now()
	server, err := j.start(ctx, c.folder, c.client)
	if err != nil {
		return 0, err
	}
	defer server.stop()
	party := replay.Party{Name: j.name, URL: server.url, AccessKey: accessKey, SecretKey: secretKey, Client: c.client, NewID: newID}
	mine := slices.DeleteFunc(slices.Clone(c.scripts), func(s corpus.Script) bool {
		return !slices.Contains(j.services, s.Service) || !strings.Contains(s.ID, c.part)
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
		return 0, fmt.Errorf("%s: %w", j.name, err)
	}
	agreed, known, unlisted := 0, 0, 0
	for _, v := range verdicts {
		switch {
		case v.err == nil:
			agreed++
		case c.isListed(v.script, j.name):
			known++
			if c.verbose {
				c.printf("listed: %s, %s: %v\n", v.script, j.name, v.err)
			}
		default:
			unlisted++
			c.printf("UNLISTED: %s, %s: %v\n", v.script, j.name, v.err)
		}
	}
	c.printf("%-14s judged %3d scripts: agrees on %d, %d listed differences, %d unlisted (%s)\n",
		j.name, len(mine), agreed, known, unlisted, time.Since(began).Round(time.Second))
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
	_, _ = fmt.Fprintf(c.out, format, arguments...) // a closed terminal changes no verdict
}

// newID is good for the name of a bucket: lower-case letters and digits.
func newID() string { return "j" + strings.ToLower(ids.Random()[:8]) }

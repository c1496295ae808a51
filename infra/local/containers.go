package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"recordbridge/infra/local/lambda"
	"recordbridge/infra/local/sam"
	"recordbridge/infra/local/template"
	"recordbridge/shared/words/ids"
)

// containers runs the functions in containers. With containers, the runner can't observe the individual processes or
// their output.
type containers struct {
	*lambda.Remote

	process  *sam.Lambda
	template string // template file for the SAM CLI; contains the embedded AWS's secret
	all      []template.Function
	observer lambda.Observer
	log      *slog.Logger
}

// startContainers starts the SAM CLI, which then starts the containers.
func (s *stack) startContainers(ctx context.Context, address string, output *lines) (functions, error) {
	all := s.template.Functions
	at := sam.Place{
		Binaries: s.where.binaries, Architecture: s.where.engine.Architecture,
		URL: "http://" + address, ObjectsURL: "http://" + s.objects, SecretKey: s.run.AWS.SecretAccessKey, Region: region,
	}
	if err := at.CheckBinaries(all); err != nil {
		return nil, err
	}
	text, err := at.Template(all)
	if err != nil {
		return nil, err
	}
	c := containers{
		all: all, observer: s.timeline, log: s.log,
		template: strings.TrimSuffix(s.runFile, ".json") + ".make-local-sam.json",
	}
	if err = os.MkdirAll(filepath.Dir(c.template), 0o700); err != nil {
		return nil, fmt.Errorf("template for sam local: %w", err)
	}
	if err = os.WriteFile(c.template, text, 0o600); err != nil {
		return nil, fmt.Errorf("template for sam local: %w", err)
	}
	c.process, err = sam.Start(ctx, sam.Options{
		Template: c.template, Functions: all, Place: at, Host: s.where.engine.Host,
		Line: func(line string) { output.print("sam", line) },
	})
	if err != nil {
		return nil, errors.Join(err, os.Remove(c.template))
	}
	c.Remote = lambda.NewRemote(c.process.URL)
	return c, nil
}

// Invoke implements the functions interface. The invocation's log lines and AWS calls are not recorded, because they
// bypass this process.
func (c containers) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	trace := ids.Random()
	c.observer.Requested(trace, function, payload)
	c.observer.Assigned(trace, "")
	answer, err := c.Remote.Invoke(ctx, function, payload)
	c.observer.Ended(trace, answer, err, 0)
	return answer, err
}

// Status returns only the functions' names, because the runner doesn't know the state of functions in containers.
func (c containers) Status() []lambda.Status {
	list := make([]lambda.Status, len(c.all))
	for i, f := range c.all {
		list[i] = lambda.Status{ID: f.LogicalID}
	}
	return list
}

// Kill implements the functions interface. Kill has no effect and returns 0.
func (containers) Kill(string) int { return 0 }

// Batches implements the functions interface. Batches returns 1, because the CLI runs only one container per function
// and further messages should stay in the queue.
func (containers) Batches(template.QueueTrigger) int { return 1 }

// Close implements the functions interface.
func (c containers) Close(ctx context.Context) {
	if err := errors.Join(c.process.Close(ctx), os.Remove(c.template)); err != nil {
		c.log.ErrorContext(ctx, "containers not ended", slog.Any("error", err))
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/iam"
	"recordbridge/infra/local/lambda"
	"recordbridge/infra/local/template"
	"recordbridge/infra/local/triggers"
	"recordbridge/shared/words/ids"
)

// mostProcesses is the maximum number of a function's processes and of a queue's concurrent batches. The template may
// set lower limits. The limit is high enough that a slow receiver or portal does not delay other work, and low enough
// for a laptop's memory, because each webhook worker takes 18 MB. As on AWS, a process handles one invocation at a
// time.
const mostProcesses = 10

// idleLife is the idle time after which a process is stopped. AWS also retains idle instances for some minutes.
const idleLife = 5 * time.Minute

type functions interface {
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
	Status() []lambda.Status
	Kill(function string) int
	Close(ctx context.Context)
	Batches(q template.QueueTrigger) int // number of batches to process concurrently
}

// startFunctions prepares the functions for invocation. The functions call the stack at address.
func (s *stack) startFunctions(ctx context.Context, address string, output *lines) (functions, error) {
	if s.where.engine == nil {
		return processes{s.subprocesses(s.where.binaries, address, output)}, nil
	}
	return s.startContainers(ctx, address, output)
}

func (s *stack) subprocesses(folder, address string, output *lines) *lambda.Subprocesses {
	all := s.template.Functions
	list := make([]lambda.Function, len(all))
	for i, f := range all {
		list[i] = lambda.Function{
			ID: f.LogicalID, Name: f.Name, Bootstrap: filepath.Join(folder, f.Folder, "bootstrap"),
			Environment: f.Environment, LogGroup: f.LogGroup, Timeout: f.Timeout, MemoryMB: f.MemoryMB, IdleLife: idleLife,
			Concurrency: concurrencyOf(f),
		}
	}
	return lambda.New(lambda.Options{
		Address: address, ObjectsURL: "http://" + s.objects, SecretKey: s.run.AWS.SecretAccessKey, Region: region,
		Account:   account,
		Functions: list, Line: output.print, Keeps: s.authority.MayLog, Observer: permitted{s.timeline, s.authority},
	})
}

type processes struct{ *lambda.Subprocesses }

// Close implements the functions interface.
func (p processes) Close(context.Context) { p.Subprocesses.Close() }

// Batches implements the functions interface.
func (processes) Batches(q template.QueueTrigger) int {
	if q.MaxConcurrency > 0 {
		return min(mostProcesses, q.MaxConcurrency)
	}
	return mostProcesses
}

// newTriggers reads the queues and schedules from the template. Each queue is polled with its function's permissions.
func newTriggers(t *template.Template, cloud *aws.Cloud, invoker functions, log *slog.Logger) *triggers.Triggers {
	o := triggers.Options{Invoker: invoker, Region: region, Account: account, NewID: ids.Random, Log: log}
	for _, f := range t.Functions {
		for _, q := range f.QueueTriggers {
			o.Sources = append(o.Sources, triggers.Source{
				Function: f.LogicalID, Queue: sqs.NewFromConfig(cloud.Config(f.LogicalID)), QueueURL: q.QueueURL,
				QueueARN:  q.QueueARN,
				BatchSize: q.BatchSize, Batches: invoker.Batches(q), PartialFailures: q.PartialFailures,
			})
		}
		for _, s := range f.Schedules {
			o.Schedules = append(o.Schedules, triggers.Schedule{Name: s.Name, Function: f.LogicalID, Every: s.Every})
		}
	}
	return triggers.New(o)
}

// lines prints the functions' output line by line.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) print(function, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.to, "%s | %s\n", function, line) // a closed terminal must not stop a function
}

func concurrencyOf(f template.Function) int {
	if f.Reserved == 0 {
		return mostProcesses
	}
	return min(mostProcesses, f.Reserved)
}

// permitted is an Observer that forwards only the invocations that Lambda may report to X-Ray.
type permitted struct {
	lambda.Observer

	authority *iam.Authority
}

// Requested implements lambda.Observer. Only the invocations that permitted forwards appear in the timeline.
func (p permitted) Requested(trace, function string, payload []byte) {
	if p.authority.MayTrace(function) {
		p.Observer.Requested(trace, function, payload)
	}
}

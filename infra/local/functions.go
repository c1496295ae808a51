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

// mostProcesses is how many processes a function may have, and so how many batches of a queue are worked on at once, as
// far as the MaximumConcurrency of the template lets it: enough that some that wait for a slow receiver or portal do
// not hold up the others, and few enough for the memory of a laptop (18 MB of each of the webhook worker). A process
// works on one invocation at a time, as on AWS.
const mostProcesses = 10

// idleLife is how long one without work is kept; AWS keeps them for some minutes, too.
const idleLife = 5 * time.Minute

// functions runs functions, in whatever way.
type functions interface {
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
	Status() []lambda.Status
	Kill(function string) int
	Close(ctx context.Context)
	Batches(q template.QueueTrigger) int // of a queue that are worked on at once
}

// startFunctions makes them ready to be invoked; they reach the service at address.
func (s *stack) startFunctions(ctx context.Context, address string, output *lines) (functions, error) {
	if s.where.engine == nil {
		return processes{s.subprocesses(s.where.binaries, address, output)}, nil
	}
	return s.startContainers(ctx, address, output)
}

// subprocesses runs the binaries below folder.
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

// processes are functions as processes of this machine.
type processes struct{ *lambda.Subprocesses }

// Close implements functions.
func (p processes) Close(context.Context) { p.Subprocesses.Close() }

// Batches implements functions.
func (processes) Batches(q template.QueueTrigger) int {
	if q.MaxConcurrency > 0 {
		return min(mostProcesses, q.MaxConcurrency)
	}
	return mostProcesses
}

// newTriggers reads the queues and schedules out of the template. A queue is read with the rights of its function.
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

// lines prints what functions write, whole lines at a time.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) print(function, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.to, "%s | %s\n", function, line) // a closed terminal stops no function
}

// concurrencyOf is how many processes a function may have.
func concurrencyOf(f template.Function) int {
	if f.Reserved == 0 {
		return mostProcesses
	}
	return min(mostProcesses, f.Reserved)
}

// permitted shows those invocations that Lambda may tell X-Ray about.
type permitted struct {
	lambda.Observer

	authority *iam.Authority
}

// Asked implements lambda.Observer. What is not announced is not shown.
func (p permitted) Asked(trace, function string, payload []byte) {
	if p.authority.MayTrace(function) {
		p.Observer.Asked(trace, function, payload)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"recordbridge/infra/demo/job"
	"recordbridge/infra/local/engine"
	"recordbridge/infra/local/inbox"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/local/seed"
	"recordbridge/shared/ids"
)

const (
	// slow is the portal whose every answer takes a while, and oneByOne asks it one thing at a time: an export of it is still under way when
	// the functions are replaced.
	slow     = "/sandbox/with/slow:5s"
	oneByOne = "fhir: {rate: {in_flight: 1}}"
	// refusals are the attempts of the pending delivery before the upgrade. The third is due five minutes after the second (docs/webhooks.md).
	refusals = 2
	// workTime bounds what is waited for before the upgrade, and after it: that third attempt, and what an export loses when its worker is replaced.
	workTime = 10 * time.Minute
	exported = "patient.ehi_export_success"
)

// watch sees what passes the front during an upgrade.
type watch struct {
	receiver string       // path of the inbox that refuses its first deliveries
	refused  atomic.Int32 // how many of them
	asked    atomic.Int32 // requests to the slow portal's records
}

// refuses tells whether a request is one of those deliveries, which are of an export's event.
func (w *watch) refuses(r *http.Request) bool {
	if strings.Contains(r.URL.Path, slow+"/fhir/") {
		w.asked.Add(1)
	}
	if r.Method != http.MethodPost || r.URL.Path != w.receiver {
		return false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil && bytes.Contains(body, []byte(exported)) && w.refused.Add(1) <= refusals
}

// upgrade deploys the previous release, starts an export that runs long and a delivery that its receiver refuses, upgrades the stack, and
// returns nil when both have ended well.
func upgrade(ctx context.Context, o options, host *engine.Engine, f *front, progress io.Writer) error {
	before := o
	before.source = o.previous
	fmt.Fprintf(progress, "The previous release, of %s\n", o.previous)
	d, run, err := raise(ctx, before, host, f, progress)
	if err != nil {
		return err
	}
	fmt.Fprintln(progress, "This release")
	if err = build(ctx, o, host, progress); err != nil {
		return err
	}
	w := &watch{receiver: inboxPath + "/birch"}
	f.watch.Store(w)
	pending, running, err := begin(ctx, d, run, w)
	if err != nil {
		return err
	}
	if delivered(f.inbox.List(), running) {
		return errors.New("the export has ended before the upgrade began")
	}
	fmt.Fprintf(progress, "A delivery is pending (refused %d times); an export is running (%d requests so far)\n", w.refused.Load(), w.asked.Load())
	began := time.Now()
	if err = deploy(ctx, o, host, progress); err != nil {
		return err
	}
	fmt.Fprintf(progress, "Upgraded in %s, after %d requests of the export\n", time.Since(began).Round(time.Second), w.asked.Load())
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	for _, event := range []struct{ name, task string }{{"the event of the running export", running}, {"the pending delivery", pending}} {
		if err = until(ctx, event.name+" comes", func() bool { return delivered(f.inbox.List(), event.task) }); err != nil {
			return err
		}
		fmt.Fprintf(progress, "%s has come, signature verified, %s after the upgrade began\n", event.name, time.Since(began).Round(time.Second))
	}
	return nil
}

// begin starts the work and waits until it is under way: an export at the usual portal whose event is refused, then one at the slow portal.
func begin(ctx context.Context, d deployed, run runfile.Run, w *watch) (pending, running string, err error) {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	other := run
	other.Organisations = run.Organisations[len(run.Organisations)-1:]
	if pending, err = request(ctx, other); err != nil {
		return "", "", fmt.Errorf("begin the export whose event is refused: %w", err)
	}
	if err = until(ctx, "the event is refused", func() bool { return w.refused.Load() >= refusals }); err != nil {
		return "", "", err
	}
	late := run
	late.Sandbox.FHIRBaseURL = run.BaseURL + slow + "/fhir"
	late.Sandbox.EndpointID, late.Sandbox.BrandID, late.Sandbox.PortalID = ids.Random(), ids.Random(), ids.Random()
	if err = seed.AddSandbox(ctx, d.Operator, late.Sandbox, oneByOne); err != nil {
		return "", "", err
	}
	if running, err = request(ctx, late); err != nil {
		return "", "", fmt.Errorf("begin the long export: %w", err)
	}
	before := w.asked.Load() // by the connection
	return pending, running, until(ctx, "the export begins", func() bool { return w.asked.Load() > before })
}

// request connects the first organisation with a patient and asks for the export.
func request(ctx context.Context, run runfile.Run) (task string, err error) {
	j, err := job.New(run, "", io.Discard)
	if err != nil {
		return "", err
	}
	connection, err := j.Connect(ctx)
	if err != nil {
		return "", err
	}
	return j.Request(ctx, connection)
}

// delivered tells whether the success of a task has come, genuinely.
func delivered(all []inbox.Delivery, task string) bool {
	for _, d := range all {
		var event struct {
			Type string
			Data struct {
				TaskID string `json:"task_id"`
			}
		}
		if json.Unmarshal([]byte(d.Body), &event) == nil && event.Data.TaskID == task && event.Type == exported && d.Signature == inbox.Verified {
			return true
		}
	}
	return false
}

// until waits for what is to happen.
func until(ctx context.Context, what string, happened func() bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !happened() {
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("waiting until %s", what), ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

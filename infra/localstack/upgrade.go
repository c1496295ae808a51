package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"recordbridge/infra/demo/job"
	"recordbridge/infra/local/engine"
	"recordbridge/infra/local/inbox"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/local/seed"
	"recordbridge/shared/words/ids"
)

const (
	// oneByOne limits a portal to one request at a time. Until the upgrade is over, the portal at the path in slow
	// delays each response by up to held. The delay keeps the portal's export running while the functions are replaced.
	// A client waits up to 30 s for a response.
	oneByOne = "fhir: {rate: {in_flight: 1}}"
	slow     = "/sandbox/with/slow:1s"
	held     = 25 * time.Second
	// refusals is the number of times that the receiver rejects the pending delivery before the upgrade. The third
	// attempt is due five minutes after the second one, or within ten minutes if the receiver requests a longer delay
	// (docs/guide/webhooks.md).
	refusals            = 2
	leastTime, mostTime = 5 * time.Minute, 10 * time.Minute
	// workTime limits each wait before and after the upgrade. The limit allows for the third delivery attempt and for
	// the delay to an export when its worker is replaced.
	workTime = 10 * time.Minute
	exported = "patient.ehi_export_success"
)

// watch delays or rejects selected requests that pass through the front server during an upgrade.
type watch struct {
	receiver string        // path of the inbox that rejects its first deliveries
	lasts    time.Duration // delay before a rejected delivery's retry
	refused  atomic.Int32  // number of deliveries of the export's event so far, including accepted ones
	holds    atomic.Bool   // whether the portal is slow; set when the export starts
	asked    atomic.Int32  // number of requests for records while the portal is slow
	over     chan struct{} // closed when the upgrade has finished
}

// newWatch returns a watch for an upgrade. took is the time that this machine needed to deploy the previous release.
// The upgrade is expected to take twice as long as that deployment.
func newWatch(took time.Duration) *watch {
	return &watch{
		receiver: inboxPath + "/birch", lasts: min(max(5*took/2, leastTime), mostTime),
		over: make(chan struct{}),
	}
}

func (w *watch) hold(r *http.Request) {
	if !w.holds.Load() || !strings.Contains(r.URL.Path, slow+"/fhir/") {
		return
	}
	w.asked.Add(1)
	limit := time.NewTimer(held)
	defer limit.Stop()
	select {
	case <-limit.C:
	case <-w.over:
	case <-r.Context().Done():
	}
}

func (w *watch) retryAfter() string { return strconv.Itoa(int(w.lasts.Seconds())) }

// refuses reports whether r is one of the export event's first deliveries, which the receiver rejects.
func (w *watch) refuses(r *http.Request) bool {
	if r.Method != http.MethodPost || r.URL.Path != w.receiver {
		return false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil && bytes.Contains(body, []byte(exported)) && w.refused.Add(1) <= refusals
}

// upgrade deploys the previous release, starts a long export and a delivery that the receiver rejects, and then
// upgrades the stack. It returns an error unless the export and the delivery each complete with exactly one event.
func upgrade(ctx context.Context, o options, host *engine.Engine, f *front, progress io.Writer) error {
	before := o
	before.source, before.release = o.previous, "previous00" // releases up to 0.1.0 accept only letters and digits
	began := time.Now()
	fmt.Fprintf(progress, "Deploying the previous release from %s\n", o.previous)
	d, run, err := deployAndSeed(ctx, before, host, f, progress)
	if err != nil {
		return err
	}
	w := newWatch(time.Since(began))
	fmt.Fprintf(progress, "Deployed after %s\nDeploying this release\n", time.Since(began).Round(time.Second))
	if err = build(ctx, o, host, progress); err != nil {
		return err
	}
	f.watch.Store(w)
	pending, err := beginPending(ctx, run, w)
	if err != nil {
		return err
	}
	running, err := beginRunning(ctx, d, run, w)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "A delivery is pending (refused %d times), due in %s; an export is running (%d requests so "+
		"far)\n",
		w.refused.Load(), w.lasts.Round(time.Second), w.asked.Load())
	if err = deploy(ctx, o, host, progress); err == nil {
		err = finishUpdate(ctx, o)
	}
	if err != nil {
		return err
	}
	work := []expectedEvent{{"the event of the running export", running}, {"the pending delivery", pending}}
	for _, event := range work {
		if came, _ := event.among(f.inbox.List()); came > 0 {
			return fmt.Errorf("%s arrived before the upgrade was complete, after %s and %d export requests", event.name,
				time.Since(began).Round(time.Second), w.asked.Load())
		}
	}
	close(w.over)
	fmt.Fprintf(progress, "Upgraded after %s and %d export requests\n", time.Since(began).Round(time.Second),
		w.asked.Load())
	return await(ctx, f.inbox, work, progress)
}

// beginPending starts an export from the default portal for the last organisation and waits until the receiver has
// rejected the export's event.
func beginPending(ctx context.Context, run runfile.Run, w *watch) (task string, err error) {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	run.Organisations = run.Organisations[len(run.Organisations)-1:]
	j, connection, err := connect(ctx, run)
	if err == nil {
		task, err = j.Request(ctx, connection)
	}
	if err != nil {
		return "", fmt.Errorf("start the export whose event is refused: %w", err)
	}
	return task, until(ctx, "the event is refused", func() bool { return w.refused.Load() >= refusals })
}

// beginRunning starts an export from the slow portal for the first organisation and waits until it is running.
func beginRunning(ctx context.Context, d deployed, run runfile.Run, w *watch) (task string, err error) {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	run.Sandbox.FHIRBaseURL = run.BaseURL + slow + "/fhir"
	run.Sandbox.EndpointID, run.Sandbox.BrandID, run.Sandbox.PortalID = ids.Random(), ids.Random(), ids.Random()
	if err = seed.AddSandbox(ctx, d.Operator, run.Sandbox, oneByOne); err != nil {
		return "", err
	}
	j, connection, err := connect(ctx, run)
	if err == nil {
		w.holds.Store(true)
		task, err = j.Request(ctx, connection)
	}
	if err != nil {
		return "", fmt.Errorf("start the long export: %w", err)
	}
	return task, until(ctx, "the export starts", func() bool { return w.asked.Load() > 0 })
}

func await(ctx context.Context, from *inbox.Inbox, work []expectedEvent, progress io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	for _, event := range work {
		began := time.Now()
		genuine := func() bool { _, genuine := event.among(from.List()); return genuine > 0 }
		if err := until(ctx, event.name+" comes", genuine); err != nil {
			return err
		}
		fmt.Fprintf(progress, "%s arrived, signature verified, after another %s\n", event.name,
			time.Since(began).Round(time.Second))
	}
	for _, event := range work {
		if came, _ := event.among(from.List()); came != 1 {
			return fmt.Errorf("%s arrived %d times", event.name, came)
		}
	}
	fmt.Fprintln(progress, "Both arrived once")
	return nil
}

func connect(ctx context.Context, run runfile.Run) (j *job.Job, connection string, err error) {
	if j, err = job.New(run, "", io.Discard); err != nil {
		return nil, "", err
	}
	connection, err = j.Connect(ctx)
	return j, connection, err
}

// expectedEvent identifies a success event that must arrive exactly once.
type expectedEvent struct {
	name string // display name
	task string
}

// among counts the event's deliveries and those with a valid signature.
func (t expectedEvent) among(all []inbox.Delivery) (came, genuine int) {
	for _, d := range all {
		var event struct {
			Type string
			Data struct {
				TaskID string `json:"task_id"`
			}
		}
		if json.Unmarshal([]byte(d.Body), &event) != nil || event.Data.TaskID != t.task || event.Type != exported {
			continue
		}
		came++
		if d.Signature == inbox.Verified {
			genuine++
		}
	}
	return came, genuine
}

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

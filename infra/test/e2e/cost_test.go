package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/capacity/journey"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/platform/lambdarun"
)

const (
	// quiet is longer than a warm function caches any value. The delay ensures that the counts include cache misses.
	quiet = 10 * time.Minute
	// tableOfCalls is the file with the counts that docs/operate/scaling.md cites.
	tableOfCalls = "../../capacity/journey/calls.csv"
)

// TestCallTableMatchesMeasuredJourneys compares the table of AWS calls with the calls measured during the journeys. If
// RECORDBRIDGE_CALLS is "write", the test updates the table instead.
func TestCallTableMatchesMeasuredJourneys(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	var counted []journey.Cost
	for _, of := range []func(*meter) []performed{daysWork, weeksWork} {
		synctest.Test(t, func(t *testing.T) {
			m := newMeter(t)
			cold := m.coldStarts()
			if len(counted) == 0 {
				counted = cold
			}
			var idle []journey.Cost
			for _, p := range of(m) {
				<-time.After(quiet)
				m.take("")
				p.run()
				synctest.Wait() // also count work done after the response
				cost := m.take(p.name, p.of...)
				if p.name == idleMinute {
					idle = slices.Clone(cost)
				} else {
					cost = without(cost, idle)
				}
				if p.name != "" {
					counted = append(counted, cost...)
				}
			}
			if idle == nil {
				counted = append(counted, m.stored()...)
			}
		})
	}
	known, err := journey.Table()
	expect.NoError(t, err)
	if os.Getenv("RECORDBRIDGE_CALLS") == "write" {
		writeTable(t, known, counted)
		return
	}
	if diff := cmp.Diff(known, counted, cmp.FilterPath(isMeasure,
		cmp.Options{cmp.Comparer(isNear[int]), cmp.Comparer(isNear[float64])})); diff != "" {
		t.Errorf("the product's calls are others than those of the table (-table +counted); RECORDBRIDGE_CALLS=write "+
			"writes it:\n%s", diff)
	}
}

// writeTable writes the table, keeping previous byte counts and waits that are close to the new ones so that a diff
// shows only changes caused by the product.
func writeTable(t *testing.T, known, table []journey.Cost) {
	t.Helper()
	measures := map[journey.Cost]journey.Cost{}
	for _, c := range known {
		measures[aboutOf(c)] = c
	}
	var out bytes.Buffer
	out.WriteString("journey,function,service,operation,on,calls,read_units,write_units,bytes,waits\n")
	for _, c := range table {
		if was := measures[aboutOf(c)]; isNear(was.Bytes, c.Bytes) && isNear(was.Waits, c.Waits) {
			c.Bytes, c.Waits = was.Bytes, was.Waits
		}
		fmt.Fprintf(&out, "%s,%s,%s,%s,%s,%d,%v,%v,%d,%v\n", c.Journey, c.Function, c.Service, c.Operation, c.On, c.Calls,
			c.Reads, c.Writes, c.Bytes, c.Waits)
	}
	expect.NoError(t, os.WriteFile(tableOfCalls, out.Bytes(), 0o600))
}

// isMeasure reports whether a field varies slightly between runs, because of the number of digits in times or the
// timing of read-ahead. The numbers of calls and units do not vary between runs.
func isMeasure(p cmp.Path) bool {
	field := p.Last().String()
	return field == ".Bytes" || field == ".Waits"
}

func isNear[N int | float64](a, b N) bool { return 8*(max(a, b)-min(a, b)) <= max(a, b) }

func newMeter(t *testing.T) *meter {
	t.Helper()
	m := &meter{rows: map[journey.Cost]journey.Cost{}}
	m.stack = newStack(t, options{middleware: func(next wire.Handler) wire.Handler {
		counting := m.middleware(next)
		return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
			if m.stack == nil { // the stack is still starting
				next(w, r, c)
				return
			}
			counting(w, r, c)
		}
	}})
	m.stack.meter, m.stack.intercept = m, m.intercept
	return m
}

// coldStarts starts a process for every function and returns each start's cost.
func (m *meter) coldStarts() []journey.Cost {
	m.stack.t.Helper()
	folders := make([]string, 0, len(m.stack.template.Functions))
	for _, declared := range m.stack.template.Functions {
		if declared.Folder == "sandboxehr" { // the sandbox is not part of the product
			continue
		}
		f := m.stack.functions[declared.LogicalID]
		life, _ := f.present()
		f.replace(life)
		_, _, err := f.instance(m.stack.t.Context())
		expect.NoError(m.stack.t, err)
		folders = append(folders, declared.Folder)
	}
	return m.take("cold start", folders...)
}

// idleMinute is the journey in which every schedule fires but finds no work. Journeys that start with a schedule
// exclude an idle minute's cost.
const idleMinute = "idle minute"

func without(cost, idle []journey.Cost) []journey.Cost {
	var left []journey.Cost
	for _, c := range cost {
		for _, i := range idle {
			i.Journey = c.Journey
			if aboutOf(i) == aboutOf(c) {
				c.Calls, c.Reads, c.Writes, c.Bytes = c.Calls-i.Calls, c.Reads-i.Reads, c.Writes-i.Writes, c.Bytes-i.Bytes
			}
		}
		if c.Calls != 0 || c.Reads+c.Writes != 0 {
			left = append(left, c)
		}
	}
	return left
}

// performed is a journey and the functions whose calls count towards it. A journey without a name only prepares the
// next one.
type performed struct {
	name string
	of   []string
	run  func()
}

func daysWork(m *meter) []performed {
	s := m.stack
	var id, task string
	var made attempt
	get := func(address func() string) func() {
		return func() {
			if got := s.org.request(http.MethodGet, address(), nil); got.status >= http.StatusBadRequest {
				s.t.Errorf("GET %s answered %d", address(), got.status)
			}
		}
	}
	request := func() {
		<-time.After(2 * time.Hour) // lets the access token expire, so that the export must refresh it
		task = s.org.startExport(id)
	}
	lookAt := func() { s.catalog.lookAt("&brand_id=" + s.seeded.Sandbox.BrandID) }
	search := func() { s.catalog.search(map[string]any{"query": "sandbox"}) }
	const taskPath = "/bridge/fhir/ehi-export/"
	return []performed{
		{"", nil, func() {
			s.org.startExport(s.patient.connect(crashPersona, "approve").Get("org_connection_id"))
			s.clock.advance(2)
		}},
		{
			"connect",
			[]string{"connect", "callback"},
			func() { id = s.patient.connect("cedar-brook", "approve").Get("org_connection_id") },
		},
		{"delivery", []string{"webhookworker"}, s.queues.pump},
		{"", nil, func() { s.patient.connect(crashPersona, "approve"); m.refusals.Store(1) }},
		{"failed delivery", []string{"webhookworker"}, s.queues.pump},
		{"second attempt", []string{"webhookworker", "sweeper"}, s.queues.pump},
		{"export request", []string{"createexport"}, request},
		{"export of 2000", []string{"exportworker"}, s.queues.pump},
		{"status", []string{"getexport"}, get(func() string { return taskPath + task })},
		{
			"download",
			[]string{"downloadexport"},
			get(func() string { return taskPath + task + "/download/" + task + ".jsonl" }),
		},
		{"events", []string{"listevents"}, get(func() string { return "/bridge/events" })},
		{"connection", []string{"getconnection"}, get(func() string { return "/bridge/org_connection/" + id })},
		{"", nil, func() { id = s.patient.connect("alder-maple", "approve").Get("org_connection_id"); request() }},
		{"export of 75", []string{"exportworker"}, s.queues.pump},
		{"attempt", []string{"createattempt"}, func() {
			made = s.patient.makeAttempt(map[string]string{"endpoint_id": s.seeded.Sandbox.EndpointID})
		}},
		{"poll", []string{"getattempt"}, func() { s.patient.watchAttempt(made) }},
		{"widget", []string{"web"}, func() {
			s.call(http.MethodGet, "/widget/embed?public_id="+s.seeded.Organisations[0].PublicID, "", "", nil)
		}},
		{"widget file", []string{"web"}, func() { s.call(http.MethodGet, "/widget/assets/embed-1a2b3c.js", "", "", nil) }},
		{"verification", []string{"sendcode", "verifyemail"}, func() {
			sent, code := s.staff.sendCode(patientsAddress)
			if status, _ := s.staff.verify(sent.ID, code); status != http.StatusOK {
				s.t.Errorf("the code answered %d", status)
			}
		}},
		{"organisation", []string{"getorg"}, func() {
			s.call(http.MethodGet, "/bridge/org?public_id="+s.seeded.Organisations[0].PublicID, "", "", nil)
		}},
		// a process loads each catalogue version only once
		{"", nil, func() { s.catalog.goLive("test", s.catalog.institutions(0)); search(); lookAt() }},
		{"search", []string{"searchcatalog"}, search},
		{"institution", []string{"getcatalog"}, lookAt},
		{"whole catalogue", []string{"exportcatalog"}, func() { s.catalog.follow(s.catalog.catalogueFiles()) }},
	}
}

// weeksWork returns the journeys that schedules start during a connection's lifetime.
func weeksWork(m *meter) []performed {
	s := m.stack
	var id string
	return []performed{
		{"", nil, func() {
			id = s.patient.connect(crashPersona, "approve").Get("org_connection_id")
			s.org.startExport(id)
			s.clock.advance(2)
		}},
		{"", nil, m.tick},
		{idleMinute, []string{"sweeper", "refreshscheduler", "catalogprobe"}, m.tick},
		{"", nil, func() { <-time.After(11 * 24 * time.Hour) }},
		{
			"refresh",
			[]string{"refreshscheduler", "refreshworker"},
			func() { m.fire("RefreshSchedulerFunction"); <-time.After(2 * time.Minute); s.queues.pump() },
		},
		{"expiry", []string{"sweeper"}, func() { m.fire("SweeperFunction") }},
		{"disconnect", []string{"deleteconnection", "refreshscheduler", "refreshworker"}, func() {
			s.org.request(http.MethodDelete, "/bridge/org_connection/"+id, nil)
			m.fire("RefreshSchedulerFunction")
			<-time.After(2 * time.Minute)
			s.queues.pump()
		}},
	}
}

// tick fires every schedule, whether or not there is work.
func (m *meter) tick() {
	m.stack.t.Helper()
	m.fire("SweeperFunction")
	m.fire("RefreshSchedulerFunction")
	m.fire("CatalogProbeFunction")
}

func (m *meter) fire(function string) {
	m.stack.t.Helper()
	payload, err := json.Marshal(lambdarun.Tick{ID: "tick", Time: time.Now()})
	expect.NoError(m.stack.t, err)
	_, err = m.stack.Invoke(m.stack.t.Context(), function, payload)
	expect.NoError(m.stack.t, err)
}

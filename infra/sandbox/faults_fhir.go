package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"recordbridge/infra/sandbox/switches"
)

// Rate limit headers like those in responses from athenahealth's sandbox.
const (
	rateLimit  = 500
	retryAfter = 2 * time.Second
)

// fhirRequest is a read or search request to a portal that has switches.
type fhirRequest struct {
	site

	op           operation
	args         []string
	resourceType string
	query        url.Values
	bearer       string
	// continued reports whether the requested page is not the first. The portal never rejects the parameters in its own
	// links. lost reports whether the page's search session has ended or never existed.
	continued, lost bool
}

// spoiledFHIR serves a read or search request and applies the switches to it.
func (s site) spoiledFHIR(answer *captured, original *http.Request, op operation, args []string) error {
	ctx := original.Context()
	r := original.Clone(ctx)
	q := fhirRequest{
		site: s, op: op, args: args, resourceType: args[0], query: r.URL.Query(), bearer: r.Header.Get("Authorization"),
	}
	if !s.inBatch {
		wait(original, s.with.Duration(switches.Slow, 0))
	}
	busy, err := q.overloaded(ctx)
	if err != nil {
		return err
	}
	if busy != nil {
		answer.replace(*busy)

		return nil
	}
	if q, err = q.turnPage(ctx, r); err != nil {
		return err
	}
	if s.with.Has(switches.Unsupported500) {
		r.Header.Set("Prefer", "handling=strict")
	}
	q.misreadIDs(r)
	s.call(answer, r, q.op, q.args)
	if answer.status == http.StatusUnauthorized {
		return nil
	}
	if refused, is := q.refused(answer); is {
		answer.replace(refused)
	}
	if err := q.rewrite(ctx, answer); err != nil {
		return err
	}
	s.rateHeaders(answer)

	return nil
}

// misreadIDs removes the IDs that the portal ignores from a search for several IDs.
func (q fhirRequest) misreadIDs(r *http.Request) {
	query := r.URL.Query()
	ids := strings.Split(query.Get("_id"), ",")
	switch {
	case q.op != opSearch || len(ids) < 2:
		return
	case q.with.Is(switches.IDList, "ignored"):
		query.Del("_id")
	case q.with.Is(switches.IDList, "half"):
		query.Set("_id", strings.Join(ids[:len(ids)/2], ","))
	}
	r.URL.RawQuery = query.Encode()
}

// asksPage reports whether a successful response to the request would be a page of resources.
func (q fhirRequest) asksPage() bool { return q.op == opSearch || q.op == opEverything }

// overloaded returns an overloaded server's response, or nil if the server is not overloaded.
func (q fhirRequest) overloaded(ctx context.Context) (*refusal, error) {
	if q.inBatch {
		return nil, nil
	}
	limited := func(retry string) *refusal {
		return &refusal{
			http.StatusTooManyRequests, fhirType, outcome("throttled", "Too many requests."),
			map[string]string{"Retry-After": retry},
		}
	}
	if hit, err := q.portalState.every(ctx, q.with.Number(switches.LimitSeconds), "seconds", q.bearer); hit || err != nil {
		return limited(strconv.Itoa(int(retryAfter.Seconds()))), err
	}
	if hit, err := q.portalState.every(ctx, q.with.Number(switches.LimitDate), "date", q.bearer); hit || err != nil {
		return limited(q.portalState.now().Add(retryAfter).UTC().Format(http.TimeFormat)), err
	}
	left, err := q.leftAlone(ctx)
	if left > 0 || err != nil {
		return limited(strconv.Itoa(int((left + time.Second - 1) / time.Second))), err
	}
	if !q.asksPage() {
		return nil, nil
	}
	hit, err := q.portalState.every(ctx, q.with.Number(switches.Search503), "search")
	if !hit || err != nil {
		return nil, err
	}

	return &refusal{
		http.StatusServiceUnavailable, fhirType, outcome("transient", "The sandbox is configured to fail."),
		map[string]string{"Retry-After": "1"},
	}, nil
}

// leftAlone returns how much longer the portal will reject requests, or 0 if it accepts this one. If the client sends
// another request within that period, the period starts again.
func (q fhirRequest) leftAlone(ctx context.Context) (time.Duration, error) {
	demanded := q.with.Duration(switches.LeaveAlone, 0)
	if demanded == 0 {
		return 0, nil
	}
	end, isSet, err := q.portalState.moment(ctx, "left alone until")
	if err != nil || !isSet && !q.asksPage() || isSet && !q.portalState.now().Before(end) {
		return 0, err
	}

	return demanded, q.portalState.setMoment(ctx, q.portalState.now().Add(demanded), "left alone until")
}

func (s site) rateHeaders(answer *captured) {
	if !s.with.Has(switches.RateHeaders) {
		return
	}
	for _, prefix := range []string{"RateLimit-", "X-RateLimit-"} {
		answer.header.Set(prefix+"Limit", strconv.Itoa(rateLimit))
		answer.header.Set(prefix+"Remaining", strconv.Itoa(rateLimit-1))
		answer.header.Set(prefix+"Reset", "1")
	}
}

// breaksOff reports whether a switch truncates the response.
func (q fhirRequest) breaksOff() bool {
	if q.resourceType == "Patient" && q.op != opEverything && q.with.Has(switches.PatientBroken) {
		return true
	}

	return q.asksPage() && (q.with.Has(switches.TruncatedJSON) || q.with.Covers(switches.BrokenJSON, q.resourceType))
}

func outcome(code, diagnostics string) string {
	return `{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":` +
		strconv.Quote(code) + `,"diagnostics":` + strconv.Quote(diagnostics) + `}]}`
}

// rewrite modifies a successful response as the switches specify.
func (q fhirRequest) rewrite(ctx context.Context, answer *captured) error {
	if answer.status != http.StatusOK {
		return nil
	}
	if q.op == opAttachment {
		q.spoilAttachment(answer)

		return nil
	}
	if q.op == opRead && q.resourceType == "Binary" && q.with.Has(switches.BinaryNotJSON) {
		return rawBinary(answer)
	}
	if !strings.HasPrefix(answer.header.Get("Content-Type"), "application/fhir+json") {
		return nil
	}
	var body map[string]any
	decoder := json.NewDecoder(bytes.NewReader(answer.body.Bytes()))
	decoder.UseNumber() // preserves the digits of decimals
	if err := decoder.Decode(&body); err != nil {
		return errEncoding("decode", err)
	}
	if err := q.rewriteBundle(ctx, body); err != nil {
		return err
	}
	q.rewriteReferences(body)
	q.rewriteAttachments(body)
	raw, err := json.Marshal(body)
	if err != nil {
		return errEncoding("encode", err)
	}
	if q.with.Has(switches.Gateway) {
		raw = bytes.ReplaceAll(raw, []byte(q.base+"/fhir"), []byte(insideBase))
	}
	if q.breaksOff() {
		raw = raw[:len(raw)/2]
	}
	answer.body.Reset()
	if !q.asksPage() {
		_, _ = answer.body.Write(raw)

		return nil
	}
	q.sendPage(answer, raw)

	return nil
}

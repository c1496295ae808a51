package source_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// slowServer is a FHIR server that has every requested resource and takes one second to respond.
type slowServer struct {
	bytes int    // approximate size of each resource
	late  string // id of the resource that takes one minute to read

	mu    sync.Mutex
	given []string
}

var errUnused = errors.New("not asked for in this test")

func (s *slowServer) Open(string, plan.Profile, func(context.Context) (secret.Text, error)) (source.Server, error) {
	return s, nil
}

func (*slowServer) Current(context.Context, org.Tenant, string) (tokens.Usable, error) {
	return tokens.Usable{Set: tokens.Set{FHIRBase: "https://ehr.example"}}, nil
}

func (*slowServer) Renew(context.Context, org.Tenant, string, int64) (tokens.Usable, error) {
	return tokens.Usable{}, errUnused
}

func (*slowServer) Metadata(context.Context) (fhir.Response, error) {
	return fhir.Response{}, errUnused
}

func (*slowServer) Search(context.Context, string, url.Values, int64) (fhir.Response, error) {
	return fhir.Response{}, errUnused
}

func (*slowServer) Page(context.Context, string, int64) (fhir.Response, error) {
	return fhir.Response{}, errUnused
}

func (*slowServer) Batch(context.Context, []byte, int64) (fhir.Response, error) {
	return fhir.Response{}, errUnused
}

func (*slowServer) Attachment(context.Context, string, int64) (fhir.File, error) {
	return fhir.File{}, errUnused
}

func (s *slowServer) Read(ctx context.Context, resourceType, id string, _ int64) (fhir.Response, error) {
	wait := time.Second
	if id == s.late {
		wait = time.Minute
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return fhir.Response{}, &fhir.RequestError{Class: fhir.Network}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = append(s.given, id)
	return fhir.Response{Body: fmt.Appendf(nil, `{"resourceType":%q,"id":%q,"x":%q}`, resourceType, id,
		strings.Repeat("x", s.bytes))}, nil
}

func (s *slowServer) sent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.given)
}

func (s *slowServer) session(t *testing.T) *source.Session {
	t.Helper()
	nowhere := directory{endpoint: fault.Missing("no endpoint")}
	session, stop, err := source.Opener{
		Tokens: s, Portals: s, Profiles: source.Profiles{Connections: nowhere, Endpoints: nowhere, Platforms: nowhere},
		Now: time.Now,
	}.Open(t.Context(), org.Tenant{}, "c", time.Time{}, false)
	if err != nil || stop.Stops() {
		t.Fatal(err, stop)
	}
	return session
}

// starter returns a function that starts streams until no capacity remains or 30 streams have been started.
func starter(t *testing.T, streams *source.Streams[string], session *source.Session, keys *[]string) func() {
	t.Helper()
	return func() {
		for len(*keys) < 30 && !streams.Full() {
			key := fmt.Sprintf("k%d", len(*keys))
			*keys = append(*keys, key)
			streams.Start(t.Context(), key, source.Wanted{}, session.Read("Basic", key))
		}
	}
}

func TestStreamsReadAheadWhenOneStreamIsSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &slowServer{bytes: 100, late: "k0"}
		session := server.session(t)
		streams := source.NewStreams[string](session)
		defer streams.Close()
		var keys []string
		more := starter(t, streams, session, &keys)
		more()
		if _, err := streams.Take(t.Context(), "k0", more); err != nil || server.sent() != 30 {
			t.Errorf("%v; %d documents were read until the one that is late was there, want 30", err, server.sent())
		}
	})
}

func TestStreamsLimitReadAheadWithoutBlockingCurrentTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ bytes, ahead int }{
		"small documents":              {100, 30},
		"documents as large as may be": {2<<20 - 100, 8}, // eight pages fill the read-ahead limit of 16 MiB
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &slowServer{bytes: c.bytes}
				session := server.session(t)
				streams := source.NewStreams[string](session)
				defer streams.Close()
				var keys []string
				more := starter(t, streams, session, &keys)
				for range 60 { // no page is taken from the stream for one minute
					more()
					<-time.After(time.Second)
					synctest.Wait()
				}
				if got := server.sent(); got != c.ahead {
					t.Errorf("%d documents were read ahead, want %d", got, c.ahead)
				}
				// Take works in any order, even for a stream that could not read ahead.
				for _, key := range slices.Backward(slices.Clone(keys)) {
					if got, err := streams.Take(t.Context(), key, func() {}); err != nil || got.Len != 1 {
						t.Fatalf("%s: %v, %+v", key, err, got.Failed)
					}
					streams.Drop(key)
				}
			})
		})
	}
}

func TestStreamsReadAheadAcrossPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		session := (&slowServer{bytes: 100}).session(t)
		streams := source.NewStreams[string](session)
		defer streams.Close()
		asked := 0
		streams.Start(t.Context(), "long", source.Wanted{}, func(context.Context, source.Wanted) (source.Page, error) {
			asked++
			<-time.After(time.Second)
			return source.Page{Bundle: fhir.Bundle{Next: fmt.Sprint("page ", asked)}}, nil
		})
		<-time.After(time.Minute)
		synctest.Wait()
		if asked != 8 {
			t.Errorf("%d pages were read before the first was taken, want 8", asked)
		}
		began := time.Now()
		for range 8 {
			if _, err := streams.Take(t.Context(), "long", func() {}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("what was read ahead came after %v", took)
		}
	})
}

func TestStreamsDoNotReadAheadInPageLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		session := (&slowServer{bytes: 100}).session(t)
		streams := source.NewStreams[string](session)
		defer streams.Close()
		asked := 0
		streams.Start(t.Context(), "loop", source.Wanted{}, func(context.Context, source.Wanted) (source.Page, error) {
			asked++
			return source.Page{Bundle: fhir.Bundle{Next: fmt.Sprint("page ", asked%3)}}, nil
		})
		<-time.After(time.Minute)
		synctest.Wait()
		if asked > 4 {
			t.Errorf("%d requests for three pages in a loop", asked)
		}
	})
}

package export_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// finishedTask returns a finished export whose file expires at until.
func finishedTask(until time.Time) export.Task {
	return export.Task{
		ID: taskID, Tenant: tenant, ConnectionID: connectionID, Status: export.Success,
		Files: []export.File{{Name: taskID + ".jsonl", Key: "key", Bytes: 1}}, FilesUntil: until,
	}
}

func aMoment() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// token returns the token in the task's download URL.
func token(t *testing.T, links export.Links, task export.Task) string {
	t.Helper()
	address, err := firstLink(links, task)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Query().Get("token")
}

func TestDownloadURLMatchesDocumentedFormat(t *testing.T) {
	t.Parallel()
	links, task := newLinks(t, "1"), finishedTask(aMoment())
	address, err := firstLink(links, task)
	if err != nil {
		t.Fatal(err)
	}
	path, query, _ := strings.Cut(address, "?")
	if want := "https://api.example/v1/bridge/fhir/ehi-export/" + taskID + "/download/" + taskID + ".jsonl"; path != want {
		t.Errorf("got %s, want %s", path, want)
	}
	if !strings.HasPrefix(query, "token=") || strings.ContainsAny(query, "&;") {
		t.Errorf("query %q", query)
	}
	got, err := links.Tenant(token(t, links, task), taskID, task.Files[0].Name, aMoment().Add(-time.Second))
	if err != nil || got != tenant {
		t.Errorf("got %v, %v, want %v", got, err, tenant)
	}
}

func TestDownloadURLOmitsPatientAndConnectionID(t *testing.T) {
	t.Parallel()
	address, err := firstLink(newLinks(t, "1"), finishedTask(aMoment()))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(address, connectionID) {
		t.Errorf("the address %s names the connection", address)
	}
}

func TestDownloadTokenIsRejectedWhenAnyCharacterChanges(t *testing.T) {
	t.Parallel()
	links, task := newLinks(t, "1"), finishedTask(aMoment())
	good := token(t, links, task)
	for at := range good {
		for _, other := range "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.=+" {
			changed := good[:at] + string(other) + good[at+1:]
			if changed != good {
				wantRefused(t, links, changed, taskID, task.Files[0].Name)
			}
		}
		wantRefused(t, links, good[:at], taskID, task.Files[0].Name)
		wantRefused(t, links, good[:at]+good[at+1:], taskID, task.Files[0].Name)
	}
	version, rest, _ := strings.Cut(good, ".")
	body, sum, _ := strings.Cut(rest, ".")
	for _, forged := range []string{
		"", ".", "..", "1..", good + ".", good + "A", good + "=", "2." + rest, "0." + rest, "-1." + rest, "01." + rest,
		"+1." + rest,
		version + "." + sum + "." + body, version + "." + body + "." + body, version + ".." + sum, strings.ToUpper(good),
	} {
		wantRefused(t, links, forged, taskID, task.Files[0].Name)
	}
}

func wantRefused(t *testing.T, links export.Links, token, id, file string) {
	t.Helper()
	got, err := links.Tenant(token, id, file, aMoment().Add(-time.Hour))
	if !errors.Is(err, fault.Unauthenticated) || fault.Of(err).Code != fault.CodeUnauthorizedClient ||
		got != (org.Tenant{}) {
		t.Errorf("token %q for %s %s: %v, %v", token, id, file, got, err)
	}
}

func TestDownloadTokenIsBoundToTaskAndFile(t *testing.T) {
	t.Parallel()
	links, task := newLinks(t, "1"), finishedTask(aMoment())
	good := token(t, links, task)
	wantRefused(t, links, good, strings.Repeat("f", 32), task.Files[0].Name)
	wantRefused(t, links, good, "", task.Files[0].Name)
	wantRefused(t, links, good, taskID, "other.jsonl")
	wantRefused(t, links, good, taskID, "")
}

func TestDownloadTokenStaysValidUntilSigningKeyIsRemoved(t *testing.T) {
	t.Parallel()
	task := finishedTask(aMoment())
	old := token(t, newLinks(t, "1"), task)
	if _, err := newLinks(t, "2").Tenant(old, taskID, task.Files[0].Name, aMoment().Add(-time.Hour)); err != nil {
		t.Errorf("after the rotation: %v", err)
	}
	ring := withoutFirst(t)
	if _, err := (export.Links{Keys: ring}).Tenant(old, taskID, task.Files[0].Name,
		aMoment().Add(-time.Hour)); !errors.Is(err, fault.Gone) {
		t.Errorf("after its key: %v, want gone", err)
	}
	wantRefused(t, export.Links{Keys: ring}, "2"+old[1:], taskID, task.Files[0].Name)
	wantRefused(t, export.Links{Keys: ring}, "3"+old[1:], taskID, task.Files[0].Name)
}

func TestDownloadTokenExpiresWithFile(t *testing.T) {
	t.Parallel()
	links, task := newLinks(t, "1"), finishedTask(aMoment())
	good := token(t, links, task)
	if _, err := links.Tenant(good, taskID, task.Files[0].Name, aMoment().Add(-time.Second)); err != nil {
		t.Errorf("a second before: %v", err)
	}
	for _, late := range []time.Duration{0, time.Second, 24 * time.Hour} {
		_, err := links.Tenant(good, taskID, task.Files[0].Name, aMoment().Add(late))
		if !errors.Is(err, fault.Gone) || fault.Of(err).Code != fault.CodeExportExpired {
			t.Errorf("%v after: %v, want gone", late, err)
		}
	}
	_, err := links.Tenant(good, taskID, "other.jsonl", aMoment().Add(time.Hour))
	if !errors.Is(err, fault.Unauthenticated) {
		t.Errorf("late and of another file: %v, want unauthenticated", err)
	}
}

func TestFileCanBeDownloadedFromSuccessUntilExpiry(t *testing.T) {
	t.Parallel()
	pending, failed := finishedTask(aMoment()), finishedTask(aMoment())
	pending.Status, failed.Status = export.Pending, export.Failed
	for name, c := range map[string]struct {
		task export.Task
		file string
		now  time.Time
		want error
	}{
		"in time":      {finishedTask(aMoment()), taskID + ".jsonl", aMoment().Add(-time.Nanosecond), nil},
		"at its end":   {finishedTask(aMoment()), taskID + ".jsonl", aMoment(), fault.Gone},
		"another file": {finishedTask(aMoment()), "x.jsonl", aMoment().Add(-time.Hour), fault.NotFound},
		"another, late": {
			finishedTask(aMoment()), "x.jsonl", aMoment().Add(time.Hour), fault.NotFound,
		},
		"pending": {pending, taskID + ".jsonl", aMoment().Add(-time.Hour), fault.NotFound},
		"failed":  {failed, taskID + ".jsonl", aMoment().Add(-time.Hour), fault.NotFound},
		"no task": {export.Task{}, "", aMoment(), fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := c.task.Downloadable(c.file, c.now); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func firstLink(links export.Links, task export.Task) (string, error) {
	list, err := links.List(task)
	if err != nil {
		return "", err
	}
	return list[0].URL, nil
}

// withoutFirst returns the keyring without key version 1.
func withoutFirst(t *testing.T) secret.Keyring {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"2","2":"` + strings.Repeat("b", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// successOf returns a task's success event with the given links. The event also contains characters that a JSON encoder
// escapes.
func successOf(t *testing.T, task export.Task, links []webhook.DownloadLink) webhook.Event {
	t.Helper()
	event, err := webhook.NewEvent(task.Tenant, webhook.ExportSucceeded, task.ID, 0, aMoment(), webhook.ExportSuccess{
		DownloadLinks: links, DownloadLink: &links[0], OrgConnectionID: connectionID, TaskID: task.ID,
		OrgID: task.Tenant.OrgID,
		Stats: webhook.Stats{TotalResources: 1, TotalByResourceType: map[string]int{"<a&b>\u2028é?token=1.2": 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return event
}

func TestStoredEventOmitsTokensAndIsUnchangedAfterRotation(t *testing.T) {
	t.Parallel()
	task := finishedTask(aMoment())
	task.Files = append(task.Files, export.File{Name: "a b&c<d>é?.jsonl", Format: "jsonl"})
	first, second := newLinks(t, "1"), newLinks(t, "2")
	first.BaseURL, second.BaseURL = "https://api.example/a&<é>/v1", "https://other.example/v1"
	whole, err := first.List(task)
	if err != nil {
		t.Fatal(err)
	}
	stored, want := successOf(t, task, first.Stored(task)), successOf(t, task, whole).Body
	for name, links := range map[string]export.Links{"the first key": first, "after a rotation": second} {
		got, err := stored.Wire(links)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: sent (%v)\n%s\nwant\n%s", name, err, got, want)
		}
		old := successOf(t, task, whole) // earlier format, with tokens in the stored links
		if got, err = old.Wire(links); err != nil || string(got) != string(want) {
			t.Errorf("%s: of an old row was sent (%v)\n%s\nwant\n%s", name, err, got, want)
		}
	}
	for _, link := range whole {
		_, token, _ := strings.Cut(link.URL, "?token=")
		if strings.Contains(string(stored.Body), token[len(token)-12:]) {
			t.Errorf("the stored event has the token of %s", link.URL)
		}
	}
	for name, event := range map[string]webhook.Event{"a new row": stored, "an old row": successOf(t, task, whole)} {
		if shown, err := event.Shown(); err != nil || strings.Count(string(shown), "?token=") != 1 ||
			!strings.Contains(string(shown), task.ID+`.jsonl"`) {
			t.Errorf("of %s is shown (%v) %s", name, err, shown)
		}
	}
}

func TestSignLinkUsesGivenTenant(t *testing.T) {
	t.Parallel()
	links, task := newLinks(t, "1"), finishedTask(aMoment())
	other := org.Tenant{Mode: org.Live, OrgID: "other"}
	address, err := links.SignLink(other, links.Stored(task)[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(address, "?token=")
	if got, err := links.Tenant(token, taskID, task.Files[0].Name, aMoment().Add(-time.Second)); err != nil ||
		got != other {
		t.Errorf("the link is for %v (%v), want %v", got, err, other)
	}
}

func TestEventCanBeSentAfterLinkKeyIsRetired(t *testing.T) {
	t.Parallel()
	task := finishedTask(aMoment())
	event := successOf(t, task, newLinks(t, "1").Stored(task))
	retired := export.Links{Keys: withoutFirst(t)}
	sent, err := event.Wire(retired)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(sent), "?token=")
	dead, _, _ := strings.Cut(rest, `"`)
	for name, links := range map[string]export.Links{
		"without the key":                retired,
		"with another key of its number": newLinks(t, "2"),
	} {
		if got, refusal := links.Tenant(dead, taskID, task.Files[0].Name, aMoment().Add(-time.Hour)); refusal == nil {
			t.Errorf("%s: the link opens the file of %v", name, got)
		}
	}
	if _, err = retired.Tenant(dead, taskID, task.Files[0].Name, aMoment().Add(-time.Hour)); !errors.Is(err, fault.Gone) {
		t.Errorf("a link without its key: %v, want gone", err)
	}
	early := successOf(t, task, newLinks(t, "2").Stored(task))
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("a", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = early.Wire(export.Links{Keys: ring}); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a link of a key that is not known yet: %v, want a later try", err)
	}
}

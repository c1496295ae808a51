package due_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/org"
)

const (
	orgID  = "0a000000-0000-4000-8000-00000000000a"
	uuidID = "e0000000-0000-4000-8000-0000000000ef"
	taskID = "e0000000000040008000000000000ef0"
)

func items() []due.Item {
	test, live := org.Tenant{Mode: org.Test, OrgID: orgID}, org.Tenant{Mode: org.Live, OrgID: orgID}
	return []due.Item{
		{Tenant: test, Kind: due.Task, ID: taskID},
		{Tenant: live, Kind: due.Event, ID: uuidID},
		{Tenant: test, Kind: due.Delivery, ID: uuidID},
		{Tenant: live, Kind: due.Notice, ID: uuidID},
	}
}

func TestItemRoundTripsThroughEncodeAndDecode(t *testing.T) {
	t.Parallel()
	for _, want := range items() {
		body, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := due.Decode(body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("item of %s (-want +got):\n%s", body, diff)
		}
	}
}

// TestEncodeFormatIsStable checks that the message format does not change, because a queue may hold messages from older
// or newer releases.
func TestEncodeFormatIsStable(t *testing.T) {
	t.Parallel()
	const want = `{"mode":"test","org":"` + orgID + `","kind":"task","id":"` + taskID + `"}`
	if got, err := items()[0].Encode(); err != nil || got != want {
		t.Errorf("message = %s (%v), want %s", got, err, want)
	}
	got, err := due.Decode(strings.Replace(want, "{", `{"added":{"later":[1]},`, 1))
	if err != nil || got != items()[0] {
		t.Errorf("a message with a new field = %v (%v)", got, err)
	}
}

func TestDecodeNormalisesIDs(t *testing.T) {
	t.Parallel()
	got, err := due.Decode(`{"mode":"live","org":"` + strings.ToUpper(orgID) + `","kind":"event","id":"` +
		strings.ToUpper(uuidID) + `"}`)
	if err != nil || got != items()[1] {
		t.Errorf("item = %v (%v), want %v", got, err, items()[1])
	}
}

func garbage() []string {
	message := func(mode, org, kind, id string) string {
		return `{"mode":"` + mode + `","org":"` + org + `","kind":"` + kind + `","id":"` + id + `"}`
	}
	return []string{
		"", " ", "null", "[]", `"x"`, "12", "{", "{}", "\x00", `{"mode":1}`,
		message("", orgID, "event", uuidID), message("prod", orgID, "event", uuidID), message("TEST", orgID, "event", uuidID),
		message("test", "", "event", uuidID), message("test", "other", "event", uuidID),
		message("test", orgID+"#x", "event", uuidID),
		message("test", orgID, "", uuidID), message("test", orgID, "secret", uuidID), message("test", orgID, "TASK", taskID),
		message("test", orgID, "event", ""), message("test", orgID, "event", "../x"), message("test", orgID, "event", taskID),
		message("test", orgID, "delivery", uuidID+"#META"), message("test", orgID, "task", taskID+"0"),
		message("test", orgID, "event", uuidID) + "x",
		message("test", orgID, "event", uuidID) + message("test", orgID, "event", uuidID),
	}
}

func TestDecodeRejectsInvalidMessage(t *testing.T) {
	t.Parallel()
	for _, body := range garbage() {
		if got, err := due.Decode(body); err == nil {
			t.Errorf("Decode(%q) = %v, want it refused", body, got)
		}
	}
}

// FuzzDecode checks that every accepted message yields a valid row key and that encoding the row yields the same
// message.
func FuzzDecode(f *testing.F) {
	for _, body := range garbage() {
		f.Add(body)
	}
	for _, i := range items() {
		body, err := i.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, err := due.Decode(body)
		if err != nil {
			if got != (due.Item{}) {
				t.Errorf("refused, but %v was returned", got)
			}
			return
		}
		if strings.ContainsAny(got.Tenant.OrgID+got.ID, "#*/ ") || strings.ToLower(got.ID) != got.ID || !got.At.IsZero() {
			t.Errorf("Decode(%q) = %v", body, got)
		}
		again, err := got.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := due.Decode(again); err != nil || back != got {
			t.Errorf("%v became %v (%v) on its way", got, back, err)
		}
	})
}

package ihe_test

import (
	"strings"
	"testing"

	"recordbridge/shared/tefca/ihe"
)

// FuzzXML checks that no response causes a panic or exceeds the limits.

func FuzzXML(f *testing.F) {
	for _, seed := range []string{
		`<a b="1">x</a>`, `<!DOCTYPE a><a/>`, `<a><b/></a>`, string(noMatch(message)),
		documentOf("eA=="), listing(listedEntry("5")),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, document []byte) { _ = ihe.Parse(document) })
}

func FuzzDiscovery(f *testing.F) {
	for _, seed := range []string{
		envelope(message, answered(message, "AA", "OK", subject("2.999.2", "1", "2.999.2"))), string(noMatch(message)),
		envelope(message, answered(message, "AA", "OK",
			`<reasonOf><detectedIssueEvent><triggerFor><actOrderRequired><code codeSystem="1.3.6.1.4.1.19376.1.2.27.1"/>`+
				`</actOrderRequired></triggerFor></detectedIssueEvent></reasonOf>`)),
		envelope(message, `<s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code></s:Fault>`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		records, unreadable, more, err := ihe.Discovered(soap, content, message, ours)
		if err == nil && (records+unreadable > 0 || more) && !strings.Contains(strings.ToLower(string(content)), message) {
			t.Errorf("%d records, %d unreadable, more %t, of another message", records, unreadable, more)
		}
	})
}

func FuzzList(f *testing.F) {
	f.Add([]byte(listing(listedEntry("5") + listedEntry("6"))))
	f.Add(
		[]byte(
			envelope(message,
				`<AdhocQueryResponse xmlns="urn:oasis:names:tc:ebxml-regrep:xsd:query:3.0" `+
					`status="urn:oasis:names:tc:ebxml-regrep:ResponseStatusType:Failure"/>`)))
	f.Fuzz(func(t *testing.T, content []byte) {
		documents, _ := ihe.Listed(content, message, home)
		seen := map[string]bool{}
		for _, d := range documents {
			if d.ID == "" || d.Size < 0 || seen[d.ID] || d.Locator.Empty() {
				t.Errorf("listed %+v", d)
			}
			seen[d.ID] = true
		}
	})
}

func FuzzDocument(f *testing.F) {
	const mtom = `multipart/related; type="application/xop+xml"; start="<root>"; boundary=b`
	f.Add(soap, []byte(documentOf("eA==")))
	f.Add(mtom, packaged([2]string{"root", documentOf(include("cid:d@x"))}, [2]string{"d@x", "content"}))
	f.Fuzz(func(t *testing.T, media string, content []byte) {
		data, err := ihe.Retrieved(media, content, message, home, 64)
		if len(data) > 64 || (err == nil) != (len(data) > 0) {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	})
}

package ihe_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/ihe"
)

const (
	soap    = "application/soap+xml; charset=utf-8"
	message = "6f9619ff-8b86-4d01-b42d-00c04fc964ff"
)

// envelope returns a response to the message whose ID is relates.
func envelope(relates, body string) string {
	return `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Header>` +
		`<a:RelatesTo xmlns:a="http://www.w3.org/2005/08/addressing">urn:uuid:` +
		relates + `</a:RelatesTo></s:Header><s:Body>` + body + `</s:Body></s:Envelope>`
}

// answered returns a response to a patient discovery.
func answered(id, accepted, code, inner string) string {
	return `<PRPA_IN201306UV02 xmlns="urn:hl7-org:v3"><acknowledgement><typeCode code="` + accepted +
		`"/></acknowledgement><controlActProcess>` + inner +
		`<queryAck><queryId root="2.999.1" extension="` + id + `"/><queryResponseCode code="` + code +
		`"/></queryAck></controlActProcess></PRPA_IN201306UV02>`
}

func noMatch(id string) []byte { return []byte(envelope(id, answered(id, "AA", "NF", ""))) }

// subject returns a record for a patient discovery response.
func subject(root, extension, custodian string) string {
	return `<subject><registrationEvent><subject1><patient><id root="` + root + `" extension="` + extension +
		`"/><patientPerson><name><given>Maple</given>` +
		`<family>Aster</family></name><birthTime value="19840312"/></patientPerson></patient></subject1><custodian>` +
		`<assignedEntity><id root="` + custodian +
		`"/></assignedEntity></custodian></registrationEvent></subject>`
}

func TestParseRejectsInvalidXML(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("much of one thing, in one goroutine")
	}
	deep := func(levels int) string { return strings.Repeat("<a>", levels) + strings.Repeat("</a>", levels) }
	wide := func(elements int) string { return "<a>" + strings.Repeat("<b/>", elements-1) + "</a>" }
	named := func(attributes int) string {
		var all strings.Builder
		for i := range attributes {
			fmt.Fprintf(&all, ` a%d=""`, i)
		}
		return "<a" + all.String() + "/>"
	}
	for name, test := range map[string]struct {
		document string
		read     bool
	}{
		"as deep as allowed":           {deep(64), true},
		"too deep":                     {deep(65), false},
		"as many as allowed":           {wide(200_000), true},
		"too many elements":            {wide(200_001), false},
		"as many attributes":           {named(32), true},
		"too many attributes":          {named(33), false},
		"attributes without end":       {named(500_000), false}, // Checking this document would take very long.
		"a declaration":                {`<?xml version="1.0" encoding="UTF-8"?><a/>`, true},
		"a document type":              {`<!DOCTYPE a><a/>`, false},
		"an external document type":    {`<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>`, false},
		"a declared entity":            {`<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`, false},
		"an entity of nobody":          {`<a>&nbsp;</a>`, false},
		"an entity of XML":             {`<a>&amp;&#65;</a>`, true},
		"a processing instruction":     {`<?xml-stylesheet href="x"?><a/>`, false},
		"another encoding":             {`<?xml version="1.0" encoding="UTF-16"?><a/>`, false},
		"no UTF-8":                     {"<a>\xff</a>", false},
		"an attribute twice":           {`<a b="1" b="2"/>`, false},
		"an attribute twice by prefix": {`<a xmlns:x="u" xmlns:y="u" x:b="1" y:b="2"/>`, false},
		"two documents":                {`<a/><a/>`, false},
		"text behind":                  {`<a/>x`, false},
		"text before":                  {`x<a/>`, false},
		"nothing":                      {``, false},
		"half":                         {`<a><b></b>`, false},
		"crossed":                      {`<a><b></a></b>`, false},
		"a comment":                    {`<!-- x --><a/>`, true},
	} {
		if err := ihe.Parse([]byte(test.document)); (err == nil) != test.read {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDiscoveryRejectsInvalidResponses(t *testing.T) {
	t.Parallel()
	good := subject("2.999.2", "1", "2.999.2")
	if records, _, _, err := ihe.Discovered(soap, []byte(envelope(message, answered(message, "AA", "OK", good))), message,
		ours); records != 1 || err != nil {
		t.Fatalf("a good one: %d records, %v", records, err)
	}
	other := strings.Replace(message, "6f", "00", 1)
	whole := envelope(message, answered(message, "AA", "OK", good))
	for name, test := range map[string]struct{ media, content string }{
		"another message": {soap, envelope(other, answered(message, "AA", "OK", good))},
		"another query":   {soap, envelope(message, answered(other, "AA", "OK", good))},
		"another's query": {soap, strings.Replace(whole, `root="2.999.1"`, `root="2.999.9"`, 1)},
		"another target": {soap, strings.Replace(whole, `<typeCode code="AA"/>`,
			`<typeCode code="AA"/><targetMessage><id root="2.999.1" extension="x"/></targetMessage>`, 1)},
		"related twice": {soap, strings.Replace(whole, `</s:Header>`,
			`<a:RelatesTo xmlns:a="http://www.w3.org/2005/08/addressing">x</a:RelatesTo></s:Header>`, 1)},
		"related in another space": {soap, strings.Replace(whole, `xmlns:a="http://www.w3.org/2005/08/addressing"`,
			`xmlns:a="urn:other"`, 1)},
		"no relation": {soap, strings.Replace(whole, "RelatesTo", "RelatesNot", 2)},
		"two bodies":  {soap, strings.Replace(whole, `</s:Envelope>`, `<s:Body/></s:Envelope>`, 1)},
		"two answers": {soap, strings.Replace(whole, `</s:Body>`,
			answered(message, "AA", "NF", "")+`</s:Body>`, 1)},
		"two acknowledgements": {soap, strings.Replace(whole, `<controlActProcess>`,
			`<acknowledgement><typeCode code="AA"/></acknowledgement><controlActProcess>`, 1)},
		"another space": {soap, strings.Replace(whole, "urn:hl7-org:v3", "urn:hl7-org:v4", 1)},
		"SOAP 1.1": {soap, strings.Replace(whole, "http://www.w3.org/2003/05/soap-envelope",
			"http://schemas.xmlsoap.org/soap/envelope/", 1)},
		"found, and nobody":       {soap, envelope(message, answered(message, "AA", "OK", ""))},
		"not found, and somebody": {soap, envelope(message, answered(message, "AA", "NF", good))},
		"an error, and somebody":  {soap, envelope(message, answered(message, "AE", "OK", good))},
		"a query error":           {soap, envelope(message, answered(message, "AA", "QE", good))},
		"a fault": {soap, envelope(message,
			`<s:Fault><s:Code><s:Value>s:Receiver</s:Value></s:Code></s:Fault>`)},
		"no envelope": {soap, strings.NewReplacer("<s:Envelope", "<s:Other", "</s:Envelope",
			"</s:Other").Replace(whole)},
		"a page":          {"text/html", whole},
		"no content type": {"", whole},
		"a document type": {soap, `<!DOCTYPE x>` + whole},
	} {
		if records, unreadable, more, err := ihe.Discovered(test.media, []byte(test.content), message, ours); err == nil {
			t.Errorf("%s: %d records, %d unreadable, more %t", name, records, unreadable, more)
		}
	}
}

// TestDiscoverySkipsUnreadableRecord checks that a readable record in the same response is still used.
func TestDiscoverySkipsUnreadableRecord(t *testing.T) {
	t.Parallel()
	good := subject("2.999.2", "1", "2.999.2")
	for name, odd := range map[string]string{
		"an id twice": strings.Replace(good, `<patientPerson>`,
			`<id root="2.999.2" extension="2"/><patientPerson>`, 1),
		"a custodian twice": strings.Replace(good, `</registrationEvent>`,
			`<custodian><assignedEntity><id root="2.999.3"/></assignedEntity></custodian></registrationEvent>`, 1),
		"no custodian":               strings.ReplaceAll(good, "custodian", "nobody"),
		"no event":                   `<subject/>`,
		"an id that escapes its CX":  subject("2.999.2", "1^^^&amp;2.999.9&amp;ISO", "2.999.2"),
		"an id that ends its quotes": subject("2.999.2", "1') or ('", "2.999.2"),
		"an id without end":          subject("2.999.2", strings.Repeat("1", 257), "2.999.2"),
		"an id of no authority":      subject("", "1", "2.999.2"),
		"a community that is none":   subject("2.999.2", "1", "x"),
	} {
		for records, all := range []string{odd, odd + subject("2.999.3", "1", "2.999.3")} {
			got, unreadable, _, err := ihe.Discovered(soap, []byte(envelope(message, answered(message, "AA", "OK", all))),
				message, ours)
			if got != records || unreadable != 1 || err != nil {
				t.Errorf("%s: %d records, %d unreadable, %v", name, got, unreadable, err)
			}
		}
	}
}

// listing returns a response that lists the given entries.
func listing(inner string) string {
	return envelope(message,
		`<q:AdhocQueryResponse xmlns:q="urn:oasis:names:tc:ebxml-regrep:xsd:query:3.0" `+
			`xmlns="urn:oasis:names:tc:ebxml-regrep:xsd:rim:3.0" `+
			`status="urn:oasis:names:tc:ebxml-regrep:ResponseStatusType:Success"><RegistryObjectList>`+inner+
			`</RegistryObjectList></q:AdhocQueryResponse>`)
}

func listedEntry(id string) string {
	return `<ExtrinsicObject home="urn:oid:2.999.2" mimeType="text/xml" ` +
		`objectType="urn:uuid:7edca82f-054d-47f2-a032-9b2a5b5186c1">` +
		`<Slot name="repositoryUniqueId"><ValueList><Value>2.999.8</Value></ValueList></Slot><Slot name="size">` +
		`<ValueList><Value>-5</Value></ValueList></Slot>` +
		`<Name><LocalizedString value="in one language"/><LocalizedString xml:lang="es" value="and in another"/></Name>` +
		`<ExternalIdentifier identificationScheme="urn:uuid:58a6f841-87b3-4a3e-92fd-a8ffeff98427" ` +
		`value="1^^^&amp;2.999.2&amp;ISO"/>` +
		`<ExternalIdentifier identificationScheme="urn:uuid:2e82c1f6-a085-4c72-9da3-8640a32e42ab" value="` + id +
		`"/></ExtrinsicObject>`
}

func TestDocumentListLimitsAndValidatesEntries(t *testing.T) {
	t.Parallel()
	documents, err := ihe.Listed([]byte(listing(listedEntry("5")+listedEntry("5"))), message, home)
	if len(documents) != 1 || err != nil {
		t.Fatalf("one document told twice: %d, %v", len(documents), err)
	}
	if d := documents[0]; d.Size != 0 {
		t.Errorf("size %d", d.Size)
	}
	var many strings.Builder
	for i := range 2001 {
		many.WriteString(listedEntry(strconv.Itoa(i)))
	}
	if documents, err := ihe.Listed([]byte(listing(many.String())), message, home); len(documents) != 2000 || err == nil {
		t.Errorf("%d documents, %v", len(documents), err)
	}
	for name, change := range map[string][2]string{
		"no home":           {`home="urn:oid:2.999.2"`, ``},
		"another patient":   {`"1^^^&amp;2.999.2&amp;ISO"`, `"2^^^&amp;2.999.2&amp;ISO"`},
		"another authority": {`"1^^^&amp;2.999.2&amp;ISO"`, `"1^^^&amp;2.999.3&amp;ISO"`},
		"two unique ids": {
			`</ExtrinsicObject>`,
			`<ExternalIdentifier identificationScheme="urn:uuid:2e82c1f6-a085-4c72-9da3-8640a32e42ab" value="6"/>` +
				`</ExtrinsicObject>`,
		},
		"two patients": {
			`</ExtrinsicObject>`,
			`<ExternalIdentifier identificationScheme="urn:uuid:58a6f841-87b3-4a3e-92fd-a8ffeff98427" value="6"/>` +
				`</ExtrinsicObject>`,
		},
		"two repositories": {
			`</ExtrinsicObject>`,
			`<Slot name="repositoryUniqueId"><ValueList><Value>9</Value></ValueList></Slot></ExtrinsicObject>`,
		},
		"another type":       {`7edca82f`, `00000000`},
		"an empty id":        {`value="5"`, `value=""`},
		"two lists":          {`</q:AdhocQueryResponse>`, `<RegistryObjectList/></q:AdhocQueryResponse>`},
		"an unknown status":  {`:Success`, `:Fine`},
		"another space":      {`regrep:xsd:rim:3.0`, `regrep:xsd:rim:2.0`},
		"an unprintable id":  {`value="5"`, `value="5&#x202e;"`},
		"a query of nothing": {`AdhocQueryResponse`, `AdhocQueryRequest`},
	} {
		documents, err := ihe.Listed([]byte(strings.ReplaceAll(listing(listedEntry("5")), change[0], change[1])),
			message, home)
		if err == nil && (name != "another space" || len(documents) > 0) {
			t.Errorf("%s: %d documents", name, len(documents))
		}
	}
}

// packaged returns an MTOM response. Each part consists of a content ID and a body.
func packaged(parts ...[2]string) []byte {
	var all strings.Builder
	for _, part := range parts {
		all.WriteString("--b\r\nContent-Type: application/xop+xml\r\nContent-ID: <" + part[0] + ">\r\n\r\n" +
			part[1] + "\r\n")
	}
	return []byte(all.String() + "--b--\r\n")
}

func documentOf(content string) string {
	return envelope(message,
		`<RetrieveDocumentSetResponse xmlns="urn:ihe:iti:xds-b:2007"><r:RegistryResponse `+
			`xmlns:r="urn:oasis:names:tc:ebxml-regrep:xsd:rs:3.0" `+
			`status="urn:oasis:names:tc:ebxml-regrep:ResponseStatusType:Success"/><DocumentResponse>`+
			`<HomeCommunityId>urn:oid:2.999.2</HomeCommunityId><RepositoryUniqueId>2</RepositoryUniqueId>`+
			`<DocumentUniqueId>1</DocumentUniqueId><mimeType>text/xml</mimeType><Document>`+content+
			`</Document></DocumentResponse></RetrieveDocumentSetResponse>`)
}

func include(href string) string {
	return `<x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="` + href + `"/>`
}

func TestUnpackRejectsInvalidPackages(t *testing.T) {
	t.Parallel()
	const mtom = `multipart/related; type="application/xop+xml"; start="<root>"; boundary=b`
	attached := [2]string{"d@x", "content"}
	for name, test := range map[string]struct {
		media   string
		content []byte
		read    bool
	}{
		"an attachment":      {mtom, packaged([2]string{"root", documentOf(include("cid:d%40x"))}, attached), true},
		"the message second": {mtom, packaged(attached, [2]string{"root", documentOf(include("cid:d@x"))}), true},
		"no start, message first": {
			strings.Replace(mtom, `start="<root>"; `, "", 1),
			packaged([2]string{"root", documentOf(include("cid:d@x"))}, attached), true,
		},
		"base64": {soap, []byte(documentOf("Y29u\n dGVudA==")), true},
		"an address": {mtom, packaged([2]string{"root", documentOf(include("https://example.org/"))},
			attached), false},
		"a file": {mtom, packaged([2]string{"root", documentOf(include("file:///etc/passwd"))},
			attached), false},
		"an attachment that is none": {mtom, packaged([2]string{"root", documentOf(include("cid:e@x"))}, attached), false},
		"the message itself":         {mtom, packaged([2]string{"root", documentOf(include("cid:root"))}, attached), false},
		"two includes": {mtom, packaged([2]string{"root", documentOf(include("cid:d@x") + include("cid:d@x"))},
			attached), false},
		"an include and text": {mtom, packaged([2]string{"root", documentOf("Y29u" + include("cid:d@x"))},
			attached), false},
		"an include and an element": {mtom, packaged([2]string{"root", documentOf("<a/>" + include("cid:d@x"))},
			attached), false},
		"two messages": {mtom, packaged([2]string{"root", documentOf(include("cid:d@x"))},
			[2]string{"root", documentOf("eA==")}, attached), false},
		"two of one id": {mtom, packaged([2]string{"root", documentOf(include("cid:d@x"))}, attached,
			attached), false},
		"many parts": {mtom, packaged([2]string{"root", documentOf(include("cid:d@x"))}, attached,
			[2]string{"2", ""}, [2]string{"3", ""}, [2]string{"4", ""}), false},
		"no message": {mtom, packaged(attached), false},
		"no end":     {mtom, []byte("--b\r\nContent-ID: <root>\r\n\r\n" + documentOf("eA==")), false},
		"no boundary": {
			strings.Replace(mtom, "; boundary=b", "", 1),
			packaged([2]string{"root", documentOf(include("cid:d@x"))}, attached), false,
		},
		"another kind of package": {
			strings.Replace(mtom, "application/xop+xml", "text/xml", 1),
			packaged([2]string{"root", documentOf(include("cid:d@x"))}, attached), false,
		},
		"no base64":   {soap, []byte(documentOf("<b/>")), false},
		"half base64": {soap, []byte(documentOf("Y29udGVud")), false},
		"nothing":     {soap, []byte(documentOf("")), false},
		"two documents": {soap, []byte(
			strings.Replace(documentOf("eA=="), "</RetrieveDocumentSetResponse>",
				"<DocumentResponse/></RetrieveDocumentSetResponse>", 1)), false},
		"no status": {soap, []byte(
			regexp.MustCompile(`<r:RegistryResponse [^>]*/>`).ReplaceAllString(documentOf("Y29udGVudA=="), "")), false},
		"an id twice": {soap, []byte(
			strings.Replace(documentOf("eA=="), "<mimeType>", "<DocumentUniqueId>1</DocumentUniqueId><mimeType>", 1)), false},
		"another repository": {soap, []byte(
			strings.Replace(documentOf("eA=="), "<RepositoryUniqueId>2", "<RepositoryUniqueId>3", 1)), false},
		"quoted-printable": {mtom, []byte(
			strings.Replace(string(packaged([2]string{"root", documentOf("eA==")})), "Content-ID",
				"Content-Transfer-Encoding: quoted-printable\r\nContent-ID", 1)), false},
	} {
		data, err := ihe.Retrieved(test.media, test.content, message, home, 100)
		if (err == nil) != test.read || test.read && string(data) != "content" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

func TestSamePersonComparesDemographics(t *testing.T) {
	t.Parallel()
	who := tefca.Person{Given: "José María", Family: "O'Brien-Núñez", BirthDate: "1984-03-12"}
	for _, test := range []struct {
		given, family, born string
		same                bool
	}{
		{"JOSE", "OBRIEN NUNEZ", "19840312", true},
		{"José María", "O’Brien Núñez", "198403120000-0600", true},
		{"Jose", "O'Brien-Nunez", "1984-03-12", true},
		{"Jose", "O'Brien-Nunez", "1984-03-12T00:00:00", true},
		{"Jose", "O'Brien-Nunez", "1984-03-13", false},
		{"Jose", "O'Brien-Nunez", "1984-03", false},
		{"Jose", "O'Brien-Nunez", "1984-0312", false},
		{"Jose", "O'Brien", "19840312", false},
		{"Joseph", "O'Brien-Nunez", "19840312", false},
		{"Jose", "O'Brien-Nunez", "19840313", false},
		{"Jose", "O'Brien-Nunez", "1984", false},
		{"Jose", "O'Brien-Nunez", "", false},
		{"", "", "19840312", false},
		{"...", "---", "19840312", false},
	} {
		if got := ihe.SamePerson(test.given, test.family, test.born, "", who); got != test.same {
			t.Errorf("%s %s %s: %t", test.given, test.family, test.born, got)
		}
	}
	if who.Sex = "female"; ihe.SamePerson("Jose", "O'Brien-Nunez", "19840312", "M", who) {
		t.Error("a brother is the person")
	}
	if ihe.SamePerson("", "", "", "", tefca.Person{}) {
		t.Error("nobody is somebody")
	}
}

package ihe

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/beevik/etree"
)

// envelopeOf returns a SOAP response to the message with ID relatesTo.
func envelopeOf(relatesTo, inner string) string {
	return `<soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope" ` +
		`xmlns:wsa="http://www.w3.org/2005/08/addressing"><soap:Header>` +
		`<wsa:Action soap:mustUnderstand="true">urn:example:answer</wsa:Action><wsa:RelatesTo>` + escape(relatesTo) +
		`</wsa:RelatesTo></soap:Header>` +
		`<soap:Body>` + inner + `</soap:Body></soap:Envelope>`
}

// faultOf returns a SOAP fault whose text contains confidential data.
func faultOf(code, sub string) string {
	if sub != "" {
		sub = `<soap:Subcode><soap:Value xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/` +
			`oasis-200401-wss-wssecurity-secext-1.0.xsd">` + sub + `</soap:Value></soap:Subcode>`
	}
	return envelopeOf("urn:uuid:none", `<soap:Fault><soap:Code><soap:Value>`+code+`</soap:Value>`+sub+`</soap:Code>`+
		`<soap:Reason><soap:Text xml:lang="en">quoted: Aster, 1984-03-12</soap:Text></soap:Reason></soap:Fault>`)
}

// discover responds to ITI-55 requests, matching the person by family name and date of birth.
func (p *Peer) discover(document *etree.Document, set Switch) string {
	known := p.options.Knows
	born := strings.ReplaceAll(known.BirthDate, "-", "")
	asked := document.FindElement("//livingSubjectBirthTime/value")
	if set == NoMatch || asked == nil || asked.SelectAttrValue("value", "") != born ||
		!strings.EqualFold(text(document, "livingSubjectName/value/family"), known.Family) {
		return p.discovered(document, "AA", "NF", "", "")
	}
	if set == OtherPerson {
		known.Given, born = "Somebody", "19990101"
	}
	home := p.options.Home
	if set == Foreign {
		home = "urn:oid:2.999.666"
	}
	record := func(id, home string) string {
		return fmt.Sprintf(
			`<subject typeCode="SUBJ"><registrationEvent classCode="REG" moodCode="EVN"><statusCode code="active"/>`+
				`<subject1 typeCode="SBJ"><patient classCode="PAT"><id root="%s" extension="%s"/><statusCode code="active"/>`+
				`<patientPerson>`+
				`<name><given>%s</given><family>%s</family></name><birthTime value="%s"/></patientPerson></patient></subject1>`+
				`<custodian typeCode="CST"><assignedEntity classCode="ASSIGNED"><id root="%s"/></assignedEntity></custodian>`+
				`</registrationEvent></subject>`,
			bare(p.options.Home), escape(id), escape(strings.ToUpper(known.Given)), escape(strings.ToUpper(known.Family)),
			born, bare(home))
	}
	if set == Ambiguous {
		return p.discovered(document, "AA", "OK", "",
			`<reasonOf typeCode="RSON"><detectedIssueEvent classCode="ALRT" moodCode="EVN">`+
				`<code code="ActAdministrativeDetectedIssueCode" codeSystem="2.16.840.1.113883.5.4"/>`+
				`<triggerFor typeCode="TRIG"><actOrderRequired classCode="ACT" moodCode="RQO">`+
				`<code code="PatientTelecomRequested" codeSystem="1.3.6.1.4.1.19376.1.2.27.1"/></actOrderRequired>`+
				`</triggerFor></detectedIssueEvent></reasonOf>`)
	}
	if set == Failing {
		return p.discovered(document, "AE", "AE", "",
			`<reasonOf typeCode="RSON"><detectedIssueEvent classCode="ALRT" moodCode="EVN">`+
				`<code code="ActAdministrativeDetectedIssueCode" codeSystem="2.16.840.1.113883.5.4"/>`+
				`<mitigatedBy typeCode="MITGT"><detectedIssueManagement classCode="ACT" moodCode="EVN">`+
				`<code code="AnswerNotAvailable" codeSystem="1.3.6.1.4.1.19376.1.2.27.3"/></detectedIssueManagement>`+
				`</mitigatedBy></detectedIssueEvent></reasonOf>`)
	}
	if set == Several {
		return p.discovered(document, "AA", "OK", record(p.options.Patient, home)+record(p.options.Patient+"-2", home), "")
	}
	records := record(p.options.Patient, home)
	if set == Mixed {
		records += record(p.options.Patient, "urn:oid:2.999.666")
	}
	return p.discovered(document, "AA", "OK", records, "")
}

func (p *Peer) discovered(document *etree.Document, accepted, code, subjects, reason string) string {
	query := document.FindElement("//queryByParameter/queryId")
	if query == nil {
		return ""
	}
	root, extension := escape(query.SelectAttrValue("root", "")), escape(query.SelectAttrValue("extension", ""))
	return `<PRPA_IN201306UV02 xmlns="urn:hl7-org:v3" ITSVersion="XML_1.0"><id root="` + bare(p.options.Home) +
		`" extension="1"/>` +
		`<interactionId root="2.16.840.1.113883.1.6" extension="PRPA_IN201306UV02"/><acknowledgement><typeCode code="` +
		accepted + `"/>` +
		`<targetMessage><id root="` + root + `" extension="` + extension + `"/></targetMessage></acknowledgement>` +
		`<controlActProcess classCode="CACT" moodCode="EVN"><code code="PRPA_TE201306UV02" ` +
		`codeSystem="2.16.840.1.113883.1.6"/>` + subjects + reason +
		`<queryAck><queryId root="` + root + `" extension="` + extension + `"/><queryResponseCode code="` + code +
		`"/></queryAck></controlActProcess></PRPA_IN201306UV02>`
}

// cx returns the person's ID in CX format, as used by document registries.
func (p *Peer) cx() string { return p.options.Patient + "^^^&" + bare(p.options.Home) + "&ISO" }

// list responds to ITI-38 requests.
func (p *Peer) list(document *etree.Document, set Switch) string {
	home, whose, status, errors := p.options.Home, p.cx(), "urn:oasis:names:tc:ebxml-regrep:ResponseStatusType:Success", ""
	asked := document.FindElement("//AdhocQuery[@id='urn:uuid:14d4debf-8f97-4251-9a74-a90016b0af0d']")
	known := asked != nil && find(asked, "./Slot[@name='$XDSDocumentEntryPatientId']/ValueList/Value") == "'"+whose+"'"
	switch {
	case !known:
		status, errors = "urn:oasis:names:tc:ebxml-regrep:ResponseStatusType:Failure", failure("XDSUnknownPatientId")
	case set == Failing:
		status, errors = "urn:oasis:names:tc:ebxml-regrep:ResponseStatusType:Failure", failure("XDSRegistryError")
	case set == Partial:
		status, errors = "urn:ihe:iti:2007:ResponseStatusType:PartialSuccess", failure("XDSUnavailableCommunity")
	case set == Foreign:
		home = "urn:oid:2.999.666"
	case set == OtherPerson:
		whose = "SOMEBODY^^^&" + bare(p.options.Home) + "&ISO"
	}
	var entries strings.Builder
	for _, d := range p.options.Documents {
		if !known || set == Failing {
			continue
		}
		entries.WriteString(listing(d, home, whose))
		if set == Twice {
			d.Repository += ".9"
			entries.WriteString(listing(d, home, whose))
		}
	}
	return `<query:AdhocQueryResponse xmlns:query="urn:oasis:names:tc:ebxml-regrep:xsd:query:3.0" ` +
		`xmlns:rim="urn:oasis:names:tc:ebxml-regrep:xsd:rim:3.0" ` +
		`xmlns:rs="urn:oasis:names:tc:ebxml-regrep:xsd:rs:3.0" status="` + status + `">` + errors +
		`<rim:RegistryObjectList>` + entries.String() +
		`</rim:RegistryObjectList></query:AdhocQueryResponse>`
}

func listing(d Document, home, whose string) string {
	home, whose = cmp.Or(d.Home, home), cmp.Or(d.Patient, whose)
	repository, second := slotOf("repositoryUniqueId", d.Repository), ""
	if d.Unplaced {
		repository = ""
	}
	if d.ID2 != "" {
		second = external("urn:uuid:2e82c1f6-a085-4c72-9da3-8640a32e42ab", d.ID2)
	}
	kind, made := "urn:uuid:7edca82f-054d-47f2-a032-9b2a5b5186c1",
		slotOf("creationTime", "20240102030405")+slotOf("size", strconv.Itoa(len(d.Content)))
	if d.OnDemand {
		kind, made = "urn:uuid:34268e47-fdf5-41a6-ba33-82133c465248", ""
	}
	return `<rim:ExtrinsicObject id="urn:uuid:1" home="` + home + `" mimeType="text/xml" objectType="` + kind +
		`" status="urn:oasis:names:tc:ebxml-regrep:StatusType:Approved">` +
		made + repository + `<rim:Name><rim:LocalizedString value="` + escape(d.Title) + `"/></rim:Name>` +
		external("urn:uuid:58a6f841-87b3-4a3e-92fd-a8ffeff98427", whose) +
		external("urn:uuid:2e82c1f6-a085-4c72-9da3-8640a32e42ab", d.ID) + second + `</rim:ExtrinsicObject>`
}

func slotOf(name, value string) string {
	return `<rim:Slot name="` + name + `"><rim:ValueList><rim:Value>` + escape(value) +
		`</rim:Value></rim:ValueList></rim:Slot>`
}

func external(scheme, value string) string {
	return `<rim:ExternalIdentifier identificationScheme="` + scheme + `" value="` + escape(value) + `"/>`
}

func failure(code string) string {
	return `<rs:RegistryErrorList><rs:RegistryError errorCode="` + code +
		`" codeContext="quoted: Aster" severity="urn:oasis:names:tc:ebxml-regrep:ErrorSeverityType:Error"/>` +
		`</rs:RegistryErrorList>`
}

// retrieve responds to ITI-39 requests. attached is nil unless the document is sent as an attachment.
func (p *Peer) retrieve(document *etree.Document, set Switch) (inner string, attached []byte) {
	var found *Document
	for _, d := range p.options.Documents {
		repository := d.Repository
		if d.Unplaced {
			repository = bare(p.options.Home)
		}
		home := cmp.Or(d.Home, p.options.Home)
		if !strings.HasPrefix(home, "urn:") {
			home = "urn:oid:" + home
		}
		if d.ID == text(document, "DocumentUniqueId") && repository == text(document, "RepositoryUniqueId") &&
			home == text(document, "HomeCommunityId") {
			found = &d
		}
	}
	if found == nil || set == Missing {
		return retrieved("Failure", failure("XDSDocumentUniqueIdError"), ""), nil
	}
	if set == Failing {
		return retrieved("Failure", failure("XDSRepositoryBusy"), ""), nil
	}
	home, id := cmp.Or(found.Home, p.options.Home), cmp.Or(found.Spelt, found.ID)
	if set == Foreign {
		home = "urn:oid:2.999.666"
	}
	if set == OtherThing {
		id += ".9"
	}
	if set == Large {
		found.Content = bytes.Repeat([]byte("x"), 1<<20)
	}
	content := `<xop:Include xmlns:xop="http://www.w3.org/2004/08/xop/include" href="cid:document%40example"/>`
	attached = found.Content
	if set == Inline {
		content, attached = base64.StdEncoding.EncodeToString(found.Content), nil
	}
	return retrieved("Success", "", `<DocumentResponse><HomeCommunityId>`+home+`</HomeCommunityId><RepositoryUniqueId>`+
		found.Repository+`</RepositoryUniqueId>`+
		`<DocumentUniqueId>`+id+`</DocumentUniqueId><mimeType>text/xml</mimeType><Document>`+content+
		`</Document></DocumentResponse>`), attached
}

func retrieved(status, errors, inner string) string {
	return `<RetrieveDocumentSetResponse xmlns="urn:ihe:iti:xds-b:2007" ` +
		`xmlns:rs="urn:oasis:names:tc:ebxml-regrep:xsd:rs:3.0">` +
		`<rs:RegistryResponse status="urn:oasis:names:tc:ebxml-regrep:ResponseStatusType:` + status + `">` + errors +
		`</rs:RegistryResponse>` + inner + `</RetrieveDocumentSetResponse>`
}

func respond(w http.ResponseWriter, status int, whole string) {
	w.Header().Set("Content-Type", "application/soap+xml; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, whole)
}

// respondPackaged sends a message and its attachment as an MTOM package.
func respondPackaged(w http.ResponseWriter, whole string, attached []byte) {
	parts := multipart.NewWriter(w)
	w.Header().Set("Content-Type",
		`multipart/related; type="application/xop+xml"; start="<root@example>"; start-info="application/soap+xml"; `+
			`boundary="`+parts.Boundary()+`"`)
	for _, part := range []struct {
		kind, id string
		data     []byte
	}{
		{`application/xop+xml; charset=UTF-8; type="application/soap+xml"`, "<root@example>", []byte(whole)},
		{"text/xml", "<document@example>", attached},
	} {
		out, err := parts.CreatePart(textproto.MIMEHeader{
			"Content-Type": {part.kind}, "Content-Id": {part.id},
			"Content-Transfer-Encoding": {"binary"},
		})
		if err == nil {
			_, _ = out.Write(part.data)
		}
	}
	_ = parts.Close()
}

func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text))
	return out.String()
}

func bare(home string) string { return strings.TrimPrefix(home, "urn:oid:") }

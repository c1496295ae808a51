package ihe

import (
	"bytes"
	"fmt"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strings"

	"github.com/beevik/etree"

	"recordbridge/shared/tefca"
)

// call describes one request of a transaction.
type call struct {
	action, address string
	format          requestFormat
	body            func(messageID string) *etree.Element
	packaged        bool  // use MTOM, as ITI-39 requires (IHE ITI TF-2, 3.39 and Appendix V.3.6)
	limit           int64 // maximum size of the response in bytes
	// repeatable means that the request has no effect on the responder, so it may be retried after any failure.
	repeatable bool
}

// envelope is a complete message, ready to send.
type envelope struct {
	id      string // the message's MessageID
	content []byte
	media   string // the request's Content-Type
}

// seal builds and signs the message for a call. Each attempt has its own message IDs and signatures, because gateways
// may reject a repeated message (WS-Addressing 1.0 Core, 3.1).
func (n *Network) seal(who tefca.Assertion, c call) (envelope, error) {
	made := envelope{id: n.deps.NewID(), content: nil, media: ""}
	says := claims{
		id: "_" + n.deps.NewID(), who: who, config: n.config, format: c.format, audience: c.address,
		at: n.deps.Now(),
	}
	assertion, err := n.signer.assertion(says)
	if err != nil {
		return envelope{}, err
	}
	stamp, signature, err := n.signer.message(says, "TS-"+n.deps.NewID())
	if err != nil {
		return envelope{}, err
	}
	root := etree.NewElement("soap:Envelope")
	root.CreateAttr("xmlns:soap", soapSpace)
	root.CreateAttr("xmlns:wsa", addressing)
	header := root.CreateElement("soap:Header")
	put(header, "wsa:To", c.address).CreateAttr("soap:mustUnderstand", "true")
	put(header, "wsa:Action", c.action).CreateAttr("soap:mustUnderstand", "true")
	put(header, "wsa:MessageID", "urn:uuid:"+made.id)
	put(header.CreateElement("wsa:ReplyTo"), "wsa:Address", anonymous)
	proof := header.CreateElement("wsse:Security")
	proof.CreateAttr("xmlns:wsse", security)
	proof.CreateAttr("soap:mustUnderstand", "true")
	for _, part := range []*etree.Element{stamp, assertion, signature} {
		proof.AddChild(part)
	}
	root.CreateElement("soap:Body").AddChild(c.body(made.id))
	document := etree.NewDocument()
	document.SetRoot(root)
	if made.content, err = document.WriteToBytes(); err != nil {
		return envelope{}, fmt.Errorf("ihe: write message: %w", err)
	}
	made.media = mime.FormatMediaType(soapMedia, map[string]string{"charset": "UTF-8", "action": c.action})
	if c.packaged {
		return made.packed(c.action)
	}
	return made, nil
}

// packed wraps the message in an MTOM package without attachments (W3C, SOAP MTOM, 3.2; XOP, 4).
func (e envelope) packed(action string) (envelope, error) {
	const root = "root@message"
	inner := mime.FormatMediaType(xopMedia, map[string]string{"charset": "UTF-8", "type": soapMedia, "action": action})
	var whole bytes.Buffer
	parts := multipart.NewWriter(&whole)
	_ = parts.SetBoundary("MIME-" + e.id)
	part, err := parts.CreatePart(textproto.MIMEHeader{
		"Content-Type": {inner}, "Content-Transfer-Encoding": {"8bit"}, "Content-Id": {"<" + root + ">"},
	})
	if err == nil {
		_, err = part.Write(e.content)
	}
	if err == nil {
		err = parts.Close()
	}
	if err != nil {
		return envelope{}, fmt.Errorf("ihe: package message: %w", err)
	}
	e.content = whole.Bytes()
	e.media = mime.FormatMediaType(multipartly, map[string]string{
		"type": xopMedia, "start": "<" + root + ">", "start-info": soapMedia, "action": action, "boundary": parts.Boundary(),
	})
	return e, nil
}

func put(parent *etree.Element, tag, text string) *etree.Element {
	child := parent.CreateElement(tag)
	child.SetText(text)
	return child
}

// plain returns text on a single line with single spaces. An XML reader would normalise other white space, which would
// invalidate the signature.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

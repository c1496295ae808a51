package ihe

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"strings"
)

// maxParts is the maximum number of parts in an MTOM response. A response needs two parts, the message and the
// requested document, but some gateways add an empty part.
const maxParts = 4

var (
	errMedia    = errors.New("not a SOAP 1.2 message")
	errPackage  = errors.New("an unreadable MTOM package")
	errRelation = errors.New("the response to another message")
)

// answer is a gateway's parsed response to a call.
type answer struct {
	id          string
	body        *element          // contents of soap:Body
	attachments map[string][]byte // attachments, keyed by content ID
}

// fault is a SOAP fault without its text, which may quote the request.
type fault struct {
	sender   bool // whether the sender, rather than the receiver, caused the fault
	security bool // whether a WS-Security code indicates that the assertion was rejected
}

func (fault) Error() string { return "a SOAP fault" }

// open parses the response to the message with the given ID.
func open(contentType string, content []byte, message string) (answer, error) {
	root, attachments, err := unpack(contentType, content)
	if err != nil {
		return answer{}, err
	}
	top, err := parse(root)
	if err != nil {
		return answer{}, err
	}
	if !top.is(soapSpace, "Envelope") {
		return answer{}, errMedia
	}
	body := top.only(soapSpace, "Body")
	if body == nil || len(body.children) != 1 {
		return answer{}, errShape
	}
	if found := body.optionalChild(soapSpace, "Fault"); found != nil {
		return answer{}, faulty(found)
	}
	related := top.only(soapSpace, "Header").only(addressing, "RelatesTo")
	if err := top.shapeError(); err != nil {
		return answer{}, err
	}
	if !id(related.words()).is(id(uuidScheme + message)) {
		return answer{}, errRelation
	}
	return answer{id: message, body: body.children[0], attachments: attachments}, nil
}

// faulty parses a fault's codes (W3C, SOAP 1.2 Part 1, 5.4.6; OASIS, WS-Security 1.1, 12).
func faulty(e *element) fault {
	code := e.only(soapSpace, "Code")
	_, sub, _ := strings.Cut(code.optionalChild(soapSpace, "Subcode").optionalChild(soapSpace, "Value").words(), ":")
	security := map[string]bool{
		"UnsupportedSecurityToken": true, "UnsupportedAlgorithm": true, "InvalidSecurity": true, "InvalidSecurityToken": true,
		"FailedAuthentication": true, "FailedCheck": true, "SecurityTokenUnavailable": true, "MessageExpired": true,
	}
	isSender := strings.HasSuffix(code.optionalChild(soapSpace, "Value").words(), "Sender")
	return fault{sender: isSender, security: security[sub]}
}

// unpack returns the message and the attachments in a plain response or an MTOM package (IHE ITI TF-2, Appendix V.3.6
// requires support for both).
func unpack(contentType string, content []byte) (root []byte, attachments map[string][]byte, err error) {
	media, parameters, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return nil, nil, errMedia
	case media == soapMedia:
		return content, nil, nil
	case media != multipartly || !isPackage(parameters):
		return nil, nil, errMedia
	}
	attachments = map[string][]byte{}
	parts := multipart.NewReader(bytes.NewReader(content), parameters["boundary"])
	start, first := strings.Trim(parameters["start"], "<>"), true
	for count := 0; ; count++ {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || count == maxParts {
			return nil, nil, errPackage
		}
		id := strings.Trim(part.Header.Get("Content-Id"), "<>")
		data, err := decoded(part, part.Header)
		if err != nil {
			return nil, nil, errPackage
		}
		if isRoot := start != "" && id == start || start == "" && first; isRoot && root == nil {
			root = data
		} else if _, twice := attachments[id]; twice || isRoot {
			return nil, nil, errPackage // parsers might disagree about which part contains the message
		} else {
			attachments[id] = data
		}
		first = false
	}
	if root == nil {
		return nil, nil, errPackage
	}
	return root, attachments, nil
}

// isPackage reports whether a multipart body can be read as MTOM. Some gateways omit the type parameter that RFC 2387
// requires.
func isPackage(parameters map[string]string) bool {
	kind := parameters["type"]
	return parameters["boundary"] != "" && (kind == "" || strings.EqualFold(kind, xopMedia))
}

// decoded returns a part's content after decoding its declared transfer encoding.
func decoded(part io.Reader, header textproto.MIMEHeader) ([]byte, error) {
	switch strings.ToLower(header.Get("Content-Transfer-Encoding")) {
	case "", "7bit", "8bit", "binary":
	case "base64":
		part = base64.NewDecoder(base64.StdEncoding, part)
	default:
		return nil, errPackage
	}
	data, err := io.ReadAll(part) // The response is already in memory, so its size is limited.
	if err != nil {
		return nil, errPackage
	}
	return data, nil
}

// binary returns the decoded content of an element. The element contains base64 or a reference to an attachment (W3C,
// XOP, 2.1). A reference to a missing attachment is an error.
func (a answer) binary(e *element) ([]byte, error) {
	if include := e.optionalChild(xopSpace, "Include"); include != nil {
		escaped, isAttached := strings.CutPrefix(include.attribute("href"), "cid:")
		id, err := url.PathUnescape(escaped)
		data, ok := a.attachments[id]
		if !isAttached || err != nil || !ok || len(e.children) != 1 || e.words() != "" {
			return nil, errPackage
		}
		return data, nil
	}
	if len(e.children) > 0 {
		return nil, errShape
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(e.words()), ""))
	if err != nil {
		return nil, errShape
	}
	return data, nil
}

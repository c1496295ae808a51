package s3

import (
	"crypto/md5" //nolint:gosec // G501: the ETag of an upload is defined by MD5
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const minPartSize = 5 << 20 // minimum size in bytes of every part except the last

type completedPart struct {
	PartNumber    *int
	ETag          string
	ChecksumCRC32 crc
}

// completeUpload creates an object from the listed parts. A client that repeats a completion, for example after a lost
// response, receives the same response as long as the object exists. S3 also repeats the response, although its
// documentation mentions only NoSuchUpload (a script in https://github.com/adobe/S3Mock/issues/2586 demonstrates this
// behaviour).
func (s uploadOperations) completeUpload(w http.ResponseWriter, r *request) error {
	// in CompleteMultipartUpload, these headers describe the object, not the XML document
	for _, name := range []string{crcHeader, crcKind} {
		if r.Header.Get(name) != "" {
			return notImplemented(name)
		}
	}
	var in struct {
		XMLName xml.Name        `xml:"CompleteMultipartUpload"`
		Part    []completedPart `xml:"Part"`
	}
	if err := readXML(r, &in); err != nil {
		return err
	}
	o, err := s.complete(r, in.Part)
	if err != nil {
		if o = s.completedBefore(r, in.Part); o == nil {
			return err
		}
	}
	setEncryption(w.Header())
	writeCompleted(w, r, o.content)
	return nil
}

// complete joins the listed parts into a single body outside the lock, and commits if they have not changed in the
// meantime.
func (s uploadOperations) complete(r *request, listed []completedPart) (o *object, err error) {
	var u *upload
	var parts []content
	err = s.view(func(st state) error {
		if u, err = st.upload(r); err != nil {
			return err
		}
		parts, err = u.choose(listed)
		return err
	})
	if err != nil {
		return nil, err
	}
	joined, err := s.join(u, parts)
	if err != nil {
		return nil, s.endedMeanwhile(r, err)
	}
	o = &object{content: joined, Headers: u.Headers, Upload: r.query.Get("uploadId")}
	if err = s.finish(r, listed, o); err != nil {
		s.blobs.remove(joined.Blob)
		return nil, err
	}
	return o, nil
}

// completedBefore returns the object that the same upload already created from the same parts, or nil if there is none.
func (s uploadOperations) completedBefore(r *request, listed []completedPart) *object {
	s.mu.RLock()
	defer s.mu.RUnlock()
	o, err := s.state.object(r.bucket, r.key)
	if err != nil || o.Upload == "" || o.Upload != r.query.Get("uploadId") {
		return nil
	}
	tags := md5.New() //nolint:gosec // G401: see the import
	for _, l := range listed {
		if err := addTag(tags, l.ETag); err != nil {
			return nil
		}
	}
	if o.ETag != joinedTag(tags, len(listed)) {
		return nil
	}
	return o
}

// choose selects the listed parts and checks the list against S3's rules.
func (u *upload) choose(listed []completedPart) ([]content, error) {
	if len(listed) == 0 {
		return nil, refuse("MalformedXML", "you must specify at least one part")
	}
	if err := checkOrder(listed); err != nil {
		return nil, err
	}
	parts := make([]content, len(listed))
	for i, l := range listed {
		var err error
		if parts[i], err = u.part(l); err != nil {
			return nil, err
		}
		if u.Checked && *l.PartNumber != i+1 {
			// The S3 documentation specifies this response in "Checking object integrity for data uploads".
			return nil, refuse("InternalError", "the part numbers of an upload with composite checksums must be consecutive "+
				"and begin with 1")
		}
	}
	for i, part := range parts[:len(parts)-1] {
		if part.Size < minPartSize {
			return nil, refuse("EntityTooSmall", "your proposed upload is smaller than the minimum allowed size").
				with("ProposedSize", part.Size).with("MinSizeAllowed", minPartSize).with("PartNumber",
				*listed[i].PartNumber).with("ETag", part.ETag)
		}
	}
	return parts, nil
}

func checkOrder(listed []completedPart) error {
	for i, l := range listed {
		switch {
		case l.PartNumber == nil || l.ETag == "":
			return errMalformedXML()
		case *l.PartNumber < 1:
			return refuse("InvalidArgument", "PartNumber must be >= 1").with("ArgumentName", "PartNumber")
		case i > 0 && *l.PartNumber <= *listed[i-1].PartNumber:
			return refuse("InvalidPartOrder", "the list of parts was not in ascending order")
		}
	}
	return nil
}

// part returns the stored part that l identifies, after checking its ETag and checksum against l's.
func (u *upload) part(l completedPart) (content, error) {
	number := *l.PartNumber
	part, ok := u.parts[number]
	if !ok || !sameETag(part.ETag, l.ETag) {
		return content{}, refuse("InvalidPart", "one or more of the specified parts could not be found, or their entity "+
			"tags did not match").
			with("PartNumber", number).with("ETag", l.ETag)
	}
	if u.Checked && l.ChecksumCRC32 == "" {
		return content{}, refuse("InvalidRequest",
			"the upload was created using a crc32 checksum: the complete request must include "+
				"the checksum for each part; it was missing for part %d", number)
	}
	if l.ChecksumCRC32 != "" && part.CRC != "" && l.ChecksumCRC32 != part.CRC {
		return content{}, refuse("InvalidPart", "the checksum of part %d did not match", number).with("PartNumber", number)
	}
	return part, nil
}

func (s uploadOperations) join(u *upload, parts []content) (content, error) {
	joined := content{Modified: now()}
	tags := md5.New() //nolint:gosec // G401: see the import
	for _, part := range parts {
		joined.Size += part.Size
	}
	id, err := s.blobs.write(joined.Size, func(w io.Writer) error {
		for _, part := range parts {
			if err := s.appendBlob(w, part.Blob); err != nil {
				return err
			}
			if err := addTag(tags, part.ETag); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return content{}, err
	}
	joined.Blob = id
	joined.ETag = joinedTag(tags, len(parts))
	if u.Checked {
		joined.CRC = compositeCRC(parts)
	}
	return joined, nil
}

func (s uploadOperations) appendBlob(w io.Writer, id string) error {
	body, err := s.blobs.open(id)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	if _, err := io.Copy(w, body); err != nil {
		return fmt.Errorf("copy a part: %w", err)
	}
	return nil
}

// addTag adds a part's ETag to the hash for the object's ETag. An upload's ETag is the MD5 hash of its parts' raw
// ETags.
func addTag(sum hash.Hash, etag string) error {
	raw, err := hex.DecodeString(strings.Trim(etag, `"`))
	if err != nil {
		return fmt.Errorf("read the entity tag of a part: %w", err)
	}
	sum.Write(raw)
	return nil
}

func joinedTag(tags hash.Hash, parts int) string {
	return `"` + hex.EncodeToString(tags.Sum(nil)) + "-" + strconv.Itoa(parts) + `"`
}

// endedMeanwhile returns NoSuchUpload if the upload has ended, and failure otherwise. An abort or another completion
// may have removed the upload's parts.
func (s uploadOperations) endedMeanwhile(r *request, failure error) error {
	return s.view(func(st state) error {
		if _, err := st.upload(r); err != nil {
			return err
		}
		return failure
	})
}

// finish commits the replacement of an upload by its object, unless the listed parts have changed.
func (s uploadOperations) finish(r *request, listed []completedPart, o *object) error {
	return s.update(func(st state) (change, error) {
		u, err := st.upload(r)
		if err != nil {
			return change{}, err
		}
		if _, err := u.choose(listed); err != nil {
			return change{}, err
		}
		return change{
			Kind: uploadCompleted, Bucket: r.bucket, Keys: []string{r.key}, UploadID: r.query.Get("uploadId"),
			Object: o,
		}, nil
	})
}

func writeCompleted(w http.ResponseWriter, r *request, joined content) {
	writeXML(w, http.StatusOK, struct {
		XMLName       xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUploadResult"`
		Location      string
		Bucket        string
		Key           string
		ETag          string
		ChecksumCRC32 crc    `xml:",omitempty"`
		ChecksumType  string `xml:",omitempty"`
	}{
		Location: "/" + r.bucket + "/" + r.key, Bucket: r.bucket, Key: r.key, ETag: joined.ETag,
		ChecksumCRC32: joined.CRC, ChecksumType: joined.CRC.kind(),
	})
}

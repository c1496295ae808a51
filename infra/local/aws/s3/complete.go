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

const minPartSize = 5 << 20 // of every part but the last

type completedPart struct {
	xmlChecksums

	PartNumber int
	ETag       string
}

// completeUpload joins the listed parts into one body outside the lock, then commits if the parts are still the same.
func (s *Server) completeUpload(w http.ResponseWriter, r *request) error {
	p, err := openDocument(r) // x-amz-checksum-* headers speak of the object here
	if err != nil {
		return err
	}
	var in struct {
		XMLName xml.Name        `xml:"CompleteMultipartUpload"`
		Part    []completedPart `xml:"Part"`
	}
	if err = p.decodeXML(&in); err != nil {
		return err
	}
	wanted, err := newWriteCondition(r.Header)
	if err != nil {
		return err
	}
	var u *upload
	var parts []content
	err = s.view(func(st state) error {
		if u, err = st.upload(r); err != nil {
			return err
		}
		parts, err = u.choose(in.Part)
		return err
	})
	if err != nil {
		return err
	}
	joined, err := s.join(u, parts)
	if err != nil {
		return s.endedMeanwhile(r, err)
	}
	err = checkWhole(r.Header, joined)
	if err == nil {
		err = s.finish(r, in.Part, joined, wanted)
	}
	if err != nil {
		s.blobs.remove(joined.Blob)
		return err
	}
	setEncryption(w.Header(), u.Headers)
	writeCompleted(w, r, joined)
	return nil
}

// choose picks the parts that the caller lists and holds the list against the rules of S3.
func (u *upload) choose(listed []completedPart) ([]content, error) {
	if len(listed) == 0 {
		return nil, refuse("MalformedXML", "you must specify at least one part")
	}
	parts := make([]content, len(listed))
	for i, l := range listed {
		if i > 0 && l.PartNumber <= listed[i-1].PartNumber {
			return nil, refuse("InvalidPartOrder", "the list of parts was not in ascending order")
		}
		part, ok := u.parts[l.PartNumber]
		if !ok || !sameETag(part.ETag, l.ETag) {
			return nil, refuse("InvalidPart", "part %d could not be found, or its entity tag did not match", l.PartNumber)
		}
		claimed := *l.field(u.Algorithm)
		if u.Composite && claimed == "" {
			return nil, refuse("InvalidRequest", "the upload was created using a %s checksum: the complete request must include "+
				"the checksum for each part; it was missing for part %d", strings.ToLower(string(u.Algorithm)), l.PartNumber)
		}
		if claimed != "" && part.Checksum.Value != "" && claimed != part.Checksum.Value {
			return nil, refuse("InvalidPart", "the checksum of part %d did not match", l.PartNumber)
		}
		parts[i] = part
	}
	for i, part := range parts[:len(parts)-1] {
		if part.Size < minPartSize {
			return nil, refuse("EntityTooSmall", "part %d is smaller than the minimum allowed size of %d bytes", listed[i].PartNumber, minPartSize)
		}
	}
	return parts, nil
}

// join writes the bodies of the parts after one another and describes the result.
func (s *Server) join(u *upload, parts []content) (content, error) {
	joined := content{Modified: now()}
	tags := md5.New() //nolint:gosec // G401: see the import
	whole := u.Algorithm.newHash()
	id, err := s.blobs.write(func(w io.Writer) error {
		if whole != nil {
			w = io.MultiWriter(w, whole)
		}
		for _, part := range parts {
			if err := s.appendBlob(w, part.Blob); err != nil {
				return err
			}
			if err := addTag(tags, part.ETag); err != nil {
				return err
			}
			joined.Size += part.Size
		}
		return nil
	})
	if err != nil {
		return content{}, err
	}
	joined.Blob = id
	joined.ETag = `"` + hex.EncodeToString(tags.Sum(nil)) + "-" + strconv.Itoa(len(parts)) + `"`
	switch {
	case u.Composite:
		joined.Checksum = compositeChecksum(u.Algorithm, parts)
	case whole != nil:
		joined.Checksum = checksum{Algorithm: u.Algorithm, Value: encodeSum(whole)}
	}
	return joined, nil
}

func (s *Server) appendBlob(w io.Writer, id string) error {
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

// addTag feeds a part's ETag into that of the whole: the ETag of an upload is the MD5 of the parts' raw ETags.
func addTag(sum hash.Hash, etag string) error {
	raw, err := hex.DecodeString(strings.Trim(etag, `"`))
	if err != nil {
		return fmt.Errorf("read the entity tag of a part: %w", err)
	}
	sum.Write(raw)
	return nil
}

// endedMeanwhile explains a part that could not be read: an abort or another completion may have removed it.
func (s *Server) endedMeanwhile(r *request, failure error) error {
	return s.view(func(st state) error {
		if _, err := st.upload(r); err != nil {
			return err
		}
		return failure
	})
}

// checkWhole holds the object against what the caller knows of it.
func checkWhole(h http.Header, joined content) error {
	if size := h.Get("X-Amz-Mp-Object-Size"); size != "" && size != strconv.FormatInt(joined.Size, 10) {
		return refuse("InvalidRequest", "the object size you specified does not match the actual object size")
	}
	claimed, err := declaredChecksum(h)
	if err != nil {
		return err
	}
	if claimed.Algorithm != "" && claimed != joined.Checksum {
		return refuse("BadDigest", "the %s you specified did not match the calculated checksum", claimed.Algorithm)
	}
	return nil
}

// finish commits the object in place of its upload.
func (s *Server) finish(r *request, listed []completedPart, joined content, wanted writeCondition) error {
	return s.update(func(st state) (change, error) {
		u, err := st.upload(r)
		if err != nil {
			return change{}, err
		}
		if _, err := u.choose(listed); err != nil {
			return change{}, err
		}
		if err := wanted.check(st, r.bucket, r.key); err != nil {
			return change{}, err
		}
		return change{
			Kind: uploadCompleted, Bucket: r.bucket, Keys: []string{r.key}, UploadID: r.query.Get("uploadId"),
			Object: &object{content: joined, Headers: u.Headers},
		}, nil
	})
}

func writeCompleted(w http.ResponseWriter, r *request, joined content) {
	out := struct {
		xmlChecksums

		XMLName      xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUploadResult"`
		Location     string
		Bucket       string
		Key          string
		ETag         string
		ChecksumType string `xml:",omitempty"`
	}{
		xmlChecksums: joined.Checksum.xml(),
		Location:     "/" + r.bucket + "/" + r.key, Bucket: r.bucket, Key: r.key, ETag: joined.ETag,
	}
	if joined.Checksum.Algorithm != "" {
		out.ChecksumType = joined.Checksum.kind()
	}
	writeXML(w, http.StatusOK, out)
}

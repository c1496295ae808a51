package s3

import (
	"crypto/rand"
	"encoding/xml"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const maxPartNumber = 10_000

func (s *Server) createUpload(w http.ResponseWriter, r *request) error {
	headers, err := storedHeaders(r.Header)
	if err != nil {
		return err
	}
	sum, err := parseAlgorithm(r.Header.Get("X-Amz-Checksum-Algorithm"))
	if err != nil {
		return err
	}
	composite, err := compositeType(sum, r.Header.Get("X-Amz-Checksum-Type"))
	if err != nil {
		return err
	}
	id := rand.Text()
	u := &upload{Bucket: r.bucket, Key: r.key, Headers: headers, Algorithm: sum, Composite: composite}
	err = s.update(func(st state) (change, error) {
		_, missing := st.bucket(r.bucket)
		return change{Kind: uploadCreated, UploadID: id, Upload: u}, missing
	})
	if err != nil {
		return err
	}
	setEncryption(w.Header(), headers)
	if sum != "" {
		w.Header().Set("X-Amz-Checksum-Algorithm", string(sum))
		w.Header().Set("X-Amz-Checksum-Type", u.checksumType())
	}
	writeXML(w, http.StatusOK, struct {
		XMLName  xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ InitiateMultipartUploadResult"`
		Bucket   string
		Key      string
		UploadID string `xml:"UploadId"`
	}{Bucket: r.bucket, Key: r.key, UploadID: id})
	return nil
}

// compositeType reads the checksum type that the creator of an upload asked for. Without one S3 takes COMPOSITE,
// except for CRC64NVME, which knows only whole objects as the SHAs know only composites.
func compositeType(sum algorithm, kind string) (bool, error) {
	possible := map[string]bool{
		"COMPOSITE":   sum != crc64NVME,
		"FULL_OBJECT": sum.canBeWhole(),
	}
	switch {
	case kind == "":
		return sum != "" && sum != crc64NVME, nil
	case sum == "" || !possible[kind]:
		return false, refuse("InvalidRequest", "the %s checksum type cannot be used with the checksum algorithm %q", kind, sum)
	default:
		return kind == "COMPOSITE", nil
	}
}

func (u *upload) checksumType() string {
	switch {
	case u.Algorithm == "":
		return ""
	case u.Composite:
		return "COMPOSITE"
	default:
		return "FULL_OBJECT"
	}
}

// fits refuses a part whose checksum is not of the kind that its upload was created with, as S3 does. An upload of
// whole-object type takes parts without one, and an upload without an algorithm takes the CRCs that SDKs send unasked.
// (LocalStack refuses those: a caller that shall run everywhere names the algorithm when it creates the upload.)
func (u *upload) fits(part checksum) error {
	switch {
	case part.Algorithm == u.Algorithm,
		part.Algorithm == "" && !u.Composite,
		u.Algorithm == "" && part.Algorithm.canBeWhole():
		return nil
	}
	name := func(a algorithm) string {
		if a == "" {
			return "null"
		}
		return strings.ToLower(string(a))
	}
	return refuse("InvalidRequest", "checksum type mismatch occurred, expected checksum type: %s, actual checksum type: %s",
		name(u.Algorithm), name(part.Algorithm))
}

func (s *Server) uploadPart(w http.ResponseWriter, r *request) error {
	number, u, err := s.target(r)
	if err != nil {
		return err
	}
	declared, err := declaredChecksum(r.Header)
	if err != nil {
		return err
	}
	if err = u.fits(declared); err != nil {
		return err
	}
	part, err := s.receive(r, u.Headers, u.Algorithm)
	if err != nil {
		return err
	}
	stored := part
	if u.Algorithm == "" {
		stored.Checksum = checksum{} // verified, but no property of an upload that was created without one
	}
	if err := s.storePart(r, number, stored); err != nil {
		return err
	}
	w.Header().Set("ETag", part.ETag)
	if part.Checksum.Algorithm != "" {
		w.Header().Set(part.Checksum.Algorithm.header(), part.Checksum.Value)
	}
	setEncryption(w.Header(), u.Headers)
	w.WriteHeader(http.StatusOK)
	return nil
}

// target finds the upload and the part number that a part is for.
func (s *Server) target(r *request) (number int, u *upload, err error) {
	number, err = strconv.Atoi(r.query.Get("partNumber"))
	if err != nil || number < 1 || number > maxPartNumber {
		return 0, nil, refuse("InvalidArgument", "part number must be an integer between 1 and %d, inclusive", maxPartNumber).
			with("ArgumentName", "partNumber").with("ArgumentValue", r.query.Get("partNumber"))
	}
	err = s.view(func(st state) error {
		u, err = st.upload(r)
		return err
	})
	return number, u, err
}

// storePart commits a part whose body is stored already. A part of the same number is replaced.
func (s *Server) storePart(r *request, number int, part content) error {
	err := s.update(func(st state) (change, error) {
		_, err := st.upload(r) // it may have ended while the body came in
		return change{Kind: partStored, UploadID: r.query.Get("uploadId"), Number: number, Part: part}, err
	})
	if err != nil {
		s.blobs.remove(part.Blob)
	}
	return err
}

func (s *Server) abortUpload(w http.ResponseWriter, r *request) error {
	err := s.update(func(st state) (change, error) {
		_, err := st.upload(r)
		return change{Kind: uploadAborted, UploadID: r.query.Get("uploadId")}, err
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type listedPart struct {
	xmlChecksums

	PartNumber   int
	LastModified string
	ETag         string
	Size         int64
}

type partListing struct {
	XMLName              xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListPartsResult"`
	Bucket               string
	Key                  string
	UploadID             string `xml:"UploadId"`
	Initiator            owner
	Owner                owner
	StorageClass         string
	ChecksumAlgorithm    algorithm `xml:",omitempty"`
	ChecksumType         string    `xml:",omitempty"`
	PartNumberMarker     int
	NextPartNumberMarker int
	MaxParts             int
	IsTruncated          bool
	Part                 []listedPart
}

func (s *Server) listParts(w http.ResponseWriter, r *request) error {
	maxParts, err := pageSize(r.query, "max-parts")
	if err != nil {
		return err
	}
	after := 0
	if marker := r.query.Get("part-number-marker"); marker != "" {
		if after, err = strconv.Atoi(marker); err != nil || after < 0 {
			return refuse("InvalidArgument", "part-number-marker must be an integer that is not negative").with("ArgumentName", "part-number-marker")
		}
	}
	out := partListing{
		Bucket: r.bucket, Key: r.key, UploadID: r.query.Get("uploadId"), StorageClass: "STANDARD",
		Initiator: owner{account}, Owner: owner{account},
		PartNumberMarker: after, MaxParts: maxParts,
	}
	err = s.view(func(st state) error {
		u, missing := st.upload(r)
		if missing != nil {
			return missing
		}
		out.fill(u, after)
		return nil
	})
	if err != nil {
		return err
	}
	writeXML(w, http.StatusOK, out)
	return nil
}

func (l *partListing) fill(u *upload, after int) {
	l.ChecksumAlgorithm, l.ChecksumType = u.Algorithm, u.checksumType()
	for _, number := range slices.Sorted(maps.Keys(u.parts)) {
		if number <= after {
			continue
		}
		if len(l.Part) == l.MaxParts {
			l.IsTruncated = true
			return
		}
		part := u.parts[number]
		l.NextPartNumberMarker = number
		l.Part = append(l.Part, listedPart{
			xmlChecksums: part.Checksum.xml(),
			PartNumber:   number, LastModified: formatTime(part.Modified), ETag: part.ETag, Size: part.Size,
		})
	}
}

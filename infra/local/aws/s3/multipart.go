package s3

import (
	"crypto/rand"
	"encoding/xml"
	"net/http"
	"strconv"
)

const maxPartNumber = 10_000

type uploadOperations struct{ *ledger }

func (s uploadOperations) createUpload(w http.ResponseWriter, r *request) error {
	headers, err := storedHeaders(r.Header)
	if err != nil {
		return err
	}
	algorithm := r.Header.Get("X-Amz-Checksum-Algorithm")
	if err = checkAlgorithm(algorithm); err != nil {
		return err
	}
	if kind := r.Header.Get(crcKind); kind != "" && (algorithm == "" || kind != composite) {
		return refuse("InvalidRequest", "the checksum type %s cannot be used with the checksum algorithm %q", kind, algorithm)
	}
	id := rand.Text()
	u := &upload{Bucket: r.bucket, Key: r.key, Headers: headers, Checked: algorithm != ""}
	err = s.update(func(st state) (change, error) {
		_, missing := st.bucket(r.bucket)
		return change{Kind: uploadCreated, UploadID: id, Upload: u}, missing
	})
	if err != nil {
		return err
	}
	setEncryption(w.Header())
	if u.Checked {
		w.Header().Set("X-Amz-Checksum-Algorithm", crcName)
		w.Header().Set(crcKind, composite)
	}
	writeXML(w, http.StatusOK, struct {
		XMLName  xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ InitiateMultipartUploadResult"`
		Bucket   string
		Key      string
		UploadID string `xml:"UploadId"`
	}{Bucket: r.bucket, Key: r.key, UploadID: id})
	return nil
}

func (s uploadOperations) uploadPart(w http.ResponseWriter, r *request) error {
	number, u, err := s.target(r)
	if err != nil {
		return err
	}
	if u.Checked && r.Header.Get(crcHeader) == "" {
		return refuse("InvalidRequest",
			"checksum type mismatch occurred, expected checksum type: crc32, actual checksum type: null")
	}
	part, err := s.receive(r)
	if err != nil {
		return err
	}
	stored := part
	if !u.Checked {
		stored.CRC = "" // checksums are not stored for an upload created without them
	}
	if err := s.storePart(r, number, stored); err != nil {
		return err
	}
	w.Header().Set("ETag", part.ETag)
	if part.CRC != "" {
		w.Header().Set(crcHeader, string(part.CRC))
	}
	setEncryption(w.Header())
	w.WriteHeader(http.StatusOK)
	return nil
}

// target returns the part number and the upload that the request specifies.
func (s uploadOperations) target(r *request) (number int, u *upload, err error) {
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

// storePart commits a part whose body is already stored. Any existing part with the same number is replaced.
func (s uploadOperations) storePart(r *request, number int, part content) error {
	err := s.update(func(st state) (change, error) {
		_, err := st.upload(r) // the upload may have ended while the body was being received
		return change{Kind: partStored, UploadID: r.query.Get("uploadId"), Number: number, Part: part}, err
	})
	if err != nil {
		s.blobs.remove(part.Blob)
	}
	return err
}

func (s uploadOperations) abortUpload(w http.ResponseWriter, r *request) error {
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

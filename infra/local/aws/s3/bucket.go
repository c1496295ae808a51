package s3

import (
	"encoding/xml"
	"net/http"
	"regexp"
)

const maxDeletes = 1000 // keys in one DeleteObjects

// bucketName holds the naming rules that concern addresses: length, characters, ends.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// createBucket ignores the region in the body: the embedded AWS is in one region.
func (s *Server) createBucket(w http.ResponseWriter, r *request) error {
	if !bucketName.MatchString(r.bucket) {
		return refuse("InvalidBucketName", "the specified bucket is not valid")
	}
	p, err := openPayload(r)
	if err != nil {
		return err
	}
	if _, err = p.readAll(); err != nil {
		return err
	}
	err = s.update(func(st state) (change, error) {
		if _, exists := st.buckets[r.bucket]; exists {
			return change{}, refuse("BucketAlreadyOwnedByYou", "your previous request to create the named bucket succeeded and you already own it")
		}
		return change{Kind: bucketCreated, Bucket: r.bucket, At: now()}, nil
	})
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/"+r.bucket)
	w.WriteHeader(http.StatusOK)
	return nil
}

func (s *Server) headBucket(w http.ResponseWriter, r *request) error {
	if err := s.requireBucket(r.bucket); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func (s *Server) requireBucket(name string) error {
	return s.view(func(st state) error {
		_, err := st.bucket(name)
		return err
	})
}

// putLifecycle keeps the rules for whoever asks; the embedded S3 expires nothing by itself.
func (s *Server) putLifecycle(w http.ResponseWriter, r *request) error {
	p, err := openPayload(r)
	if err != nil {
		return err
	}
	body, err := p.readAll()
	if err != nil {
		return err
	}
	var document struct {
		XMLName xml.Name `xml:"LifecycleConfiguration"`
		Rule    []struct{ Status string }
	}
	//nolint:gosec // G709: into our own struct; encoding/xml expands no entities
	if err = xml.Unmarshal(body, &document); err != nil || len(document.Rule) == 0 {
		return refuse("MalformedXML", "a lifecycle configuration needs at least one rule")
	}
	err = s.update(func(st state) (change, error) {
		_, missing := st.bucket(r.bucket)
		return change{Kind: lifecyclePut, Bucket: r.bucket, Lifecycle: body}, missing
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func (s *Server) getLifecycle(w http.ResponseWriter, r *request) error {
	var rules []byte
	err := s.view(func(st state) error {
		b, err := st.bucket(r.bucket)
		if err != nil {
			return err
		}
		if rules = b.lifecycle; rules == nil {
			return refuse("NoSuchLifecycleConfiguration", "the lifecycle configuration does not exist")
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(rules) // a client that went away needs no answer
	return nil
}

// deleteObjects reports a key that does not exist as deleted, as S3 does.
func (s *Server) deleteObjects(w http.ResponseWriter, r *request) error {
	declared, err := declaredChecksum(r.Header)
	if err != nil {
		return err
	}
	if declared.Algorithm == "" && r.Header.Get("Content-Md5") == "" {
		return refuse("InvalidRequest", "missing required header for this request: Content-MD5 or x-amz-checksum-*")
	}
	type entry struct{ Key string }
	var in struct {
		XMLName xml.Name `xml:"Delete"`
		Object  []entry
		Quiet   bool
	}
	if err := readXML(r, &in); err != nil {
		return err
	}
	if len(in.Object) == 0 || len(in.Object) > maxDeletes {
		return refuse("MalformedXML", "DeleteObjects takes 1 to %d keys", maxDeletes)
	}
	keys := make([]string, len(in.Object))
	for i, o := range in.Object {
		keys[i] = o.Key
	}
	if err := s.drop(r.bucket, keys); err != nil {
		return err
	}
	out := struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ DeleteResult"`
		Deleted []entry
	}{}
	if !in.Quiet {
		out.Deleted = in.Object
	}
	writeXML(w, http.StatusOK, out)
	return nil
}

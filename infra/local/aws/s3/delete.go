package s3

import (
	"encoding/xml"
	"errors"
	"net/http"
)

const maxDeletes = 1000 // keys in one DeleteObjects

// deletion is an object of DeleteObjects.
type deletion struct {
	Key              *string
	ETag             string // If-Match of this key
	VersionID        string `xml:"VersionId"`
	LastModifiedTime string
	Size             string
}

type deletedKey struct{ Key string }

type failedKey struct{ Key, Code, Message string }

// deleteObject succeeds for a key that does not exist, as S3 does, unless a condition needs it.
func (s *Server) deleteObject(w http.ResponseWriter, r *request) error {
	if err := refuseDirectoryConditions(r.Header); err != nil {
		return err
	}
	refused, err := s.drop(r.bucket, []deletion{{Key: &r.key, ETag: r.Header.Get("If-Match")}})
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		return refused[r.key]
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// refuseDirectoryConditions: those headers work with directory buckets only.
func refuseDirectoryConditions(h http.Header) error {
	for _, name := range []string{"X-Amz-If-Match-Last-Modified-Time", "X-Amz-If-Match-Size"} {
		if h.Get(name) != "" {
			return refuse("NotImplemented", "a header you provided implies functionality that is not implemented").with("Header", name)
		}
	}
	return nil
}

// deleteObjects reports a key that does not exist as deleted, as S3 does.
func (s *Server) deleteObjects(w http.ResponseWriter, r *request) error {
	if err := requireDigest(r.Header); err != nil {
		return err
	}
	var in struct {
		XMLName xml.Name `xml:"Delete"`
		Object  []deletion
		Quiet   bool
	}
	if err := readXML(r, &in); err != nil {
		return err
	}
	if len(in.Object) == 0 || len(in.Object) > maxDeletes {
		return refuse("MalformedXML", "DeleteObjects takes 1 to %d keys", maxDeletes)
	}
	for _, o := range in.Object {
		if o.Key == nil || *o.Key == "" {
			return errMalformedXML()
		}
		if o.VersionID != "" || o.LastModifiedTime != "" || o.Size != "" {
			return refuse("NotImplemented", "the embedded S3 has no versions and knows no condition of a delete but the ETag")
		}
	}
	refused, err := s.drop(r.bucket, in.Object)
	if err != nil {
		return err
	}
	out := struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ DeleteResult"`
		Deleted []deletedKey
		Error   []failedKey
	}{}
	for _, o := range in.Object {
		if failure := refused[*o.Key]; failure != nil {
			out.Error = append(out.Error, failedKey{*o.Key, failure.code, failure.message})
		} else if !in.Quiet {
			out.Deleted = append(out.Deleted, deletedKey{*o.Key})
		}
	}
	writeXML(w, http.StatusOK, out)
	return nil
}

// errNothing ends a change that has become unnecessary.
var errNothing = errors.New("nothing to change")

// drop deletes those of the keys that exist and whose conditions hold, and says which do not hold. Nothing is
// journalled when nothing is deleted.
func (s *Server) drop(bucket string, keys []deletion) (refused map[string]*apiError, err error) {
	err = s.update(func(st state) (change, error) {
		b, missing := st.bucket(bucket)
		if missing != nil {
			return change{}, missing
		}
		refused = map[string]*apiError{}
		var found []string
		for _, d := range keys {
			if failure := d.check(b.objects[*d.Key]); failure != nil {
				refused[*d.Key] = failure
			} else if b.objects[*d.Key] != nil {
				found = append(found, *d.Key)
			}
		}
		if len(found) == 0 {
			return change{}, errNothing
		}
		return change{Kind: objectsDeleted, Bucket: bucket, Keys: found}, nil
	})
	if errors.Is(err, errNothing) {
		err = nil
	}
	return refused, err
}

func (d deletion) check(current *object) *apiError {
	switch {
	case len(*d.Key) > maxKeyBytes:
		return errKeyTooLong(len(*d.Key))
	case d.ETag == "":
		return nil
	case current == nil:
		return errNoSuchKey(*d.Key)
	case !matches(d.ETag, current.ETag):
		return errPrecondition("If-Match")
	default:
		return nil
	}
}

package s3

import (
	"encoding/xml"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

const (
	region = "us-east-1"
	// account is the ID of the account that owns all buckets.
	account = "000000000000"
)

// bucketName checks a name's length, its characters, and its first and last character ("General purpose bucket naming
// rules").
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func validBucketName(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil || !bucketName.MatchString(name) || strings.Contains(name, "..") {
		return false
	}
	reserved := func(is func(string, string) bool, affixes ...string) bool {
		return slices.ContainsFunc(affixes, func(affix string) bool { return is(name, affix) })
	}
	return !reserved(strings.HasPrefix, "xn--", "sthree-", "amzn-s3-demo-") &&
		!reserved(strings.HasSuffix, "-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")
}

type bucketOperations struct{ *ledger }

// createBucket creates a bucket, or does nothing if the bucket exists. S3 accepts a repeated CreateBucket request from
// the bucket's owner only in us-east-1.
func (s bucketOperations) createBucket(w http.ResponseWriter, r *request) error {
	if !validBucketName(r.bucket) {
		return refuse("InvalidBucketName", "the specified bucket is not valid").with("BucketName", r.bucket)
	}
	if r.ContentLength != 0 {
		return refuse("NotImplemented", "the embedded S3 has one region, %s, and takes no configuration of a bucket", region)
	}
	err := s.update(func(st state) (change, error) {
		if _, exists := st.buckets[r.bucket]; exists {
			return change{}, errNothing
		}
		return change{Kind: bucketCreated, Bucket: r.bucket, At: now()}, nil
	})
	if err != nil && !errors.Is(err, errNothing) {
		return err
	}
	w.Header().Set("Location", "/"+r.bucket)
	w.WriteHeader(http.StatusOK)
	return nil
}

func (s objectOperations) requireBucket(name string) error {
	return s.view(func(st state) error {
		_, err := st.bucket(name)
		return err
	})
}

type owner struct{ ID string }

type listedBucket struct{ Name, CreationDate string }

func (s bucketOperations) listBuckets(w http.ResponseWriter, _ *request) error {
	out := struct {
		XMLName xml.Name       `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListAllMyBucketsResult"`
		Owner   owner          `xml:"Owner"`
		Buckets []listedBucket `xml:"Buckets>Bucket"`
	}{Owner: owner{account}, Buckets: []listedBucket{}}
	_ = s.view(func(st state) error {
		for _, name := range slices.Sorted(maps.Keys(st.buckets)) {
			out.Buckets = append(out.Buckets, listedBucket{name, formatTime(st.buckets[name].created)})
		}
		return nil
	})
	writeXML(w, http.StatusOK, out)
	return nil
}

package s3

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	region = "us-east-1"
	// account owns all buckets.
	account    = "000000000000"
	maxBuckets = 10_000 // in one page of ListBuckets
)

// bucketName holds the naming rules that concern length, characters and ends ("General purpose bucket naming rules").
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

// createBucket leaves a bucket that is there as it is: so does S3 in us-east-1, for its owner, and in no other region.
func (s *Server) createBucket(w http.ResponseWriter, r *request) error {
	if !validBucketName(r.bucket) {
		return refuse("InvalidBucketName", "the specified bucket is not valid").with("BucketName", r.bucket)
	}
	if err := refuseUnknownFeatures(r.Header); err != nil {
		return err
	}
	if err := checkLocation(r); err != nil {
		return err
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

// checkLocation reads the configuration of a new bucket. us-east-1 is the region that is not named there, and the
// embedded AWS has no other.
func checkLocation(r *request) error {
	p, err := openPayload(r)
	if err != nil {
		return err
	}
	var in struct {
		XMLName            xml.Name `xml:"CreateBucketConfiguration"`
		LocationConstraint string
	}
	if p.size == 0 {
		_, err = p.readAll()
		return err
	}
	if err := p.decodeXML(&in); err != nil {
		return err
	}
	if in.LocationConstraint != "" {
		return refuse("InvalidLocationConstraint", "the embedded AWS is in %s, which a location constraint does not name", region).
			with("LocationConstraint", in.LocationConstraint)
	}
	return nil
}

func (s *Server) headBucket(w http.ResponseWriter, r *request) error {
	if err := s.requireBucket(r.bucket); err != nil {
		return err
	}
	w.Header().Set("X-Amz-Bucket-Region", region)
	w.WriteHeader(http.StatusOK)
	return nil
}

func (s *Server) requireBucket(name string) error {
	return s.view(func(st state) error {
		_, err := st.bucket(name)
		return err
	})
}

type owner struct{ ID string }

type listedBucket struct{ Name, CreationDate string }

type bucketListing struct {
	XMLName           xml.Name       `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListAllMyBucketsResult"`
	Owner             owner          `xml:"Owner"`
	Buckets           []listedBucket `xml:"Buckets>Bucket"`
	Prefix            string         `xml:",omitempty"`
	ContinuationToken string         `xml:",omitempty"`
}

func (s *Server) listBuckets(w http.ResponseWriter, r *request) error {
	limit, err := bucketPage(r)
	if err != nil {
		return err
	}
	after, err := base64.RawURLEncoding.DecodeString(r.query.Get("continuation-token"))
	if err != nil {
		return refuse("InvalidArgument", "the continuation token provided is incorrect")
	}
	out := bucketListing{Owner: owner{account}, Buckets: []listedBucket{}, Prefix: r.query.Get("prefix")}
	err = s.view(func(st state) error {
		for _, name := range slices.Sorted(maps.Keys(st.buckets)) {
			if name <= string(after) || !strings.HasPrefix(name, out.Prefix) {
				continue
			}
			if len(out.Buckets) == limit {
				out.ContinuationToken = base64.RawURLEncoding.EncodeToString([]byte(out.Buckets[limit-1].Name))
				return nil
			}
			out.Buckets = append(out.Buckets, listedBucket{name, formatTime(st.buckets[name].created)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	writeXML(w, http.StatusOK, out)
	return nil
}

// bucketPage reads max-buckets, which unlike other page sizes has to be at least 1.
func bucketPage(r *request) (int, error) {
	if !r.query.Has("max-buckets") {
		return maxBuckets, nil
	}
	n, err := strconv.Atoi(r.query.Get("max-buckets"))
	if err != nil || n < 1 || n > maxBuckets {
		return 0, refuse("InvalidArgument", "max-buckets must be between 1 and %d", maxBuckets)
	}
	return n, nil
}

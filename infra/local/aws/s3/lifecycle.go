package s3

import (
	"crypto/rand"
	"encoding/xml"
	"net/http"
)

const (
	maxLifecycleRules = 1000
	maxRuleID         = 255
)

// lifecycle is the document of a bucket, read strictly enough to refuse what S3 refuses. Transitions and what concerns
// versions are kept as they are.
type lifecycle struct {
	XMLName xml.Name `xml:"LifecycleConfiguration"`
	Rules   []rule   `xml:"Rule"`
}

type rule struct {
	ID         string       `xml:"ID"`
	Filter     *rawXML      `xml:"Filter"`
	Prefix     *string      `xml:"Prefix"`
	Status     string       `xml:"Status"`
	Expiration []expiration `xml:"Expiration"`
	Abort      []abortRule  `xml:"AbortIncompleteMultipartUpload"`
	Others     []rawXML     `xml:",any"`
}

type expiration struct {
	Days                      *int   `xml:"Days"`
	Date                      string `xml:"Date,omitempty"`
	ExpiredObjectDeleteMarker *bool  `xml:"ExpiredObjectDeleteMarker"`
}

type abortRule struct {
	DaysAfterInitiation *int `xml:"DaysAfterInitiation"`
}

// rawXML is an element that is given back as it came.
type rawXML struct {
	XMLName xml.Name
	Inner   string `xml:",innerxml"`
}

// putLifecycle keeps the rules for whoever asks; the embedded S3 expires nothing by itself.
func (s *Server) putLifecycle(w http.ResponseWriter, r *request) error {
	if err := requireDigest(r.Header); err != nil {
		return err
	}
	var document lifecycle
	if err := readXML(r, &document); err != nil {
		return err
	}
	if err := s.requireBucket(r.bucket); err != nil {
		return err
	}
	if err := document.check(); err != nil {
		return err
	}
	document.XMLName.Space = "http://s3.amazonaws.com/doc/2006-03-01/"
	body, err := xml.Marshal(document)
	if err != nil {
		return err
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

// check holds the document against "Lifecycle configuration elements" in the S3 user guide, and names unnamed rules.
func (l *lifecycle) check() error {
	if len(l.Rules) == 0 || len(l.Rules) > maxLifecycleRules {
		return errMalformedXML()
	}
	ids := map[string]bool{}
	for i := range l.Rules {
		rule := &l.Rules[i]
		if err := rule.check(); err != nil {
			return err
		}
		if rule.ID == "" {
			rule.ID = rand.Text()
		}
		if ids[rule.ID] {
			return refuse("InvalidArgument", "rule ID must be unique; found the same ID for more than one rule")
		}
		ids[rule.ID] = true
	}
	return nil
}

func (r *rule) check() error {
	actions := len(r.Expiration) + len(r.Abort) + len(r.Others)
	switch {
	case r.Status != "Enabled" && r.Status != "Disabled",
		(r.Filter == nil) == (r.Prefix == nil), // one of them, and not both
		len(r.Expiration) > 1 || len(r.Abort) > 1:
		return errMalformedXML()
	case len(r.ID) > maxRuleID:
		return refuse("InvalidArgument", "ID length should not exceed allowed limit of %d", maxRuleID)
	case actions == 0:
		return refuse("InvalidRequest", "at least one action needs to be specified in a rule")
	}
	for _, other := range r.Others {
		switch other.XMLName.Local {
		case "Transition", "NoncurrentVersionTransition", "NoncurrentVersionExpiration":
		default:
			return errMalformedXML()
		}
	}
	for _, e := range r.Expiration {
		if e.Days != nil && *e.Days < 1 {
			return refuse("InvalidArgument", "'Days' for Expiration action must be a positive integer")
		}
		if e.Days == nil && e.Date == "" && e.ExpiredObjectDeleteMarker == nil {
			return errMalformedXML()
		}
	}
	for _, a := range r.Abort {
		if a.DaysAfterInitiation == nil {
			return errMalformedXML()
		}
		if *a.DaysAfterInitiation < 1 {
			return refuse("InvalidArgument", "'DaysAfterInitiation' for AbortIncompleteMultipartUpload action must be a positive integer")
		}
	}
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
			return refuse("NoSuchLifecycleConfiguration", "the lifecycle configuration does not exist").with("BucketName", r.bucket)
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

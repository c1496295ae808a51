package switches

// Switches that affect exports, in table order.
const (
	Everything        = "everything"
	AttachmentURLs    = "attachment-urls"
	AttachmentForeign = "attachment-foreign"
	AttachmentMissing = "attachment-missing"
	AttachmentLarge   = "attachment-large"
	AttachmentDrops   = "attachment-drops"
	PageLarge         = "page-large"
	NextLoop          = "next-loop"
	DuplicateEntries  = "duplicate-entries"
	InvalidEntry      = "invalid-entry"
	GzipBomb          = "gzip-bomb"
	DeepJSON          = "deep-json"
	InvalidUTF8       = "invalid-utf8"
	OtherPatient      = "other-patient"
	Version           = "version"
)

func recordTable() []Switch {
	return []Switch{
		{Everything, "", "Patient/{id}/$everything returns the whole record in pages, the Patient first; it supports " +
			"_count and _since.", "MEDITECH, Cigna, Humana and others"},
		{AttachmentURLs, "", "Documents reference their Binary as {FHIR base}/attachments/{id}, which returns the " +
			"content itself to a bearer token.", "any"},
		{AttachmentForeign, "", "Documents reference their Binary by a URL on another host.", "any"},
		{AttachmentMissing, "", "Documents reference their Binary as {FHIR base}/attachments/{id}, which returns " +
			"404.", "any"},
		{AttachmentLarge, number, "Like attachment-urls, but with this many MiB of generated text and no " +
			"Content-Length. API Gateway rejects more than 6 MB; the local server and tests do not.", "any"},
		{AttachmentDrops, "", "Like attachment-urls, but the content ends after half of its Content-Length. API " +
			"Gateway corrects the length.", "any"},
		{PageLarge, number, "A first page requested with _count above 25, or without it, has this many more MiB in a " +
			"Narrative. API Gateway rejects more than 6 MB; the local server and tests do not.", "any"},
		{NextLoop, "", "A page's next link leads to the page itself.", "any"},
		{DuplicateEntries, "", "Every entry of a page is repeated.", "any"},
		{InvalidEntry, "", "Every page has an extra entry, whose resource has no resourceType.", "any"},
		{GzipBomb, "", "A search returns a megabyte of gzip that unpacks to a JSON string of 1 GiB, whatever " +
			"Accept-Encoding is.", "hostile server"},
		{DeepJSON, "", "Every page has an extra entry, nested 100,000 levels deep.", "hostile server"},
		{InvalidUTF8, "", "Every page has an extra entry, with a string that is not UTF-8.", "any"},
		{OtherPatient, "", "The first page of an Observation search has an extra Observation of another " +
			"patient.", "any"},
		{
			Version, "dstu2|stu3", "The server reports this FHIR version; with dstu2, the statement is a Conformance " +
				"and a MedicationRequest is a MedicationOrder. Otherwise, resources remain R4.",
			"Veradigm/Allscripts (DSTU2); portals of 2018",
		},
	}
}

package switches

// Switches that affect exports, in the order of the table.
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
		{Everything, "", "Patient/{id}/$everything answers the whole record in pages, the Patient first; it takes _count " +
			"and _since.", "MEDITECH, Cigna, Humana and others"},
		{AttachmentURLs, "", "Documents name their Binary by {FHIR base}/attachments/{id}, which answers the content " +
			"itself to a bearer token.", "any"},
		{AttachmentForeign, "", "Documents name their Binary by a URL on a foreign host.", "any"},
		{AttachmentMissing, "", "Documents name their Binary by {FHIR base}/attachments/{id}, which answers 404.", "any"},
		{AttachmentLarge, number, "As attachment-urls, but the content is so many MiB of generated text, of unannounced " +
			"length. Over 6 MB API Gateway refuses it; the local server and tests do not.", "any"},
		{AttachmentDrops, "", "As attachment-urls, but the content breaks off after half of what Content-Length announces. " +
			"API Gateway corrects the length.", "any"},
		{PageLarge, number, "A first page that was asked for with _count above 25, or without, holds so many MiB more in a " +
			"Narrative. Over 6 MB API Gateway refuses it; the local server and tests do not.", "any"},
		{NextLoop, "", "Where a page has a next link, it leads to the page itself.", "any"},
		{DuplicateEntries, "", "Every entry of a page stands in it twice.", "any"},
		{InvalidEntry, "", "Every page holds one more entry, whose resource has no resourceType.", "any"},
		{GzipBomb, "", "A search is answered with a megabyte of gzip that unpacks to a JSON string of 1 GiB, whatever " +
			"Accept-Encoding says.", "hostile server"},
		{DeepJSON, "", "Every page holds one more entry, nested 100,000 deep.", "hostile server"},
		{InvalidUTF8, "", "Every page holds one more entry, with a string that is not UTF-8.", "any"},
		{OtherPatient, "", "The first page of an Observation search holds one more Observation, of another patient.", "any"},
		{
			Version, "dstu2|stu3", "The server says that it speaks this version of FHIR; with dstu2 the statement is a " +
				"Conformance and a MedicationRequest a MedicationOrder. Otherwise resources stay R4.",
			"Veradigm/Allscripts (DSTU2); portals of 2018",
		},
	}
}

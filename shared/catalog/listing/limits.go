package listing

// Limits for a list. The largest published list, Epic's brands, is about 95 MB in size and contains 100,000
// institutions, with entries of about 1 KiB.
const (
	maxBytes   = 256 << 20 // maximum size of a decompressed list in bytes
	maxEntries = 400_000
	maxEntry   = 1 << 20 // in bytes
	maxMember  = 64 << 10
	maxDepth   = 64
	maxByHand  = 4 << 20 // maximum size in bytes of a manually maintained list, held in memory
)

// Limits for an entry. Longer texts and excess elements are omitted and reported.
const (
	maxName        = 300 // maximum name length in runes
	maxDescription = 4000
	maxAddress     = 2000 // maximum length, in bytes, of a server's or page's URL
	maxKey         = 300
	maxAliases     = 100
	maxIdentifiers = 100
	maxNPIs        = 500
	maxLocations   = 5000
	maxPortals     = 50
	maxEndpoints   = 200 // maximum number of endpoints per portal
	maxAbove       = 8   // number of ancestors searched for an institution's portal; SMART allows two levels
)

package listing

// The limits of a list. The largest published one, Epic's brands, has some 95 MB and 100,000 institutions; its entries
// have about 1 KiB.
const (
	maxBytes   = 256 << 20 // bytes of a decompressed list
	maxEntries = 400_000
	maxEntry   = 1 << 20 // bytes
	maxMember  = 64 << 10
	maxDepth   = 64
	maxByHand  = 4 << 20 // bytes of a hand-kept list, which is held in memory
)

// The limits of an entry. Longer texts and further elements are omitted and reported.
const (
	maxName        = 300 // maximum name length in runes
	maxDescription = 4000
	maxAddress     = 2000 // bytes, for URLs of servers and pages
	maxKey         = 300
	maxAliases     = 100
	maxIdentifiers = 100
	maxNPIs        = 500
	maxLocations   = 5000
	maxPortals     = 50
	maxEndpoints   = 200 // maximum endpoints of a portal
	maxAbove       = 8   // levels of parents searched for an institution's portal; SMART allows two
)

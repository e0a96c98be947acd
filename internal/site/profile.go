package site

// Profile describes how a host maps URL paths to files and what it answers.
// It is plain data: a rule that no field can say does not exist.
type Profile struct {
	// Name is what --profile takes.
	Name string
	// Index are the default index files of a directory, in the order the host
	// tries them.
	Index []string
	// FoldIndex: when all names of Index are lower case they match files in
	// any letter case (LL-81).
	FoldIndex bool
	// Autoindex says what answers a directory without index file.
	Autoindex Autoindex
	// Charset is the encoding that the host's Content-Type header gives for
	// HTML; empty means that it gives none.
	Charset string
	// Base is the profile's way to read <base href>.
	Base BaseRule
	// SlashOptional: a directory answers without its final slash (LL-83); the
	// others redirect.
	SlashOptional bool
}

// Generic is what nginx, Apache, Caddy and lighttpd agree on in their plainest
// configuration, and what nginx does where they differ.
var Generic = Profile{Name: "generic", Index: []string{"index.html"}, Autoindex: AutoindexError}

// Linklint is how the Linklint program read a docroot (LL-77 to LL-83).
var Linklint = Profile{
	Name: "linklint",
	Index: []string{"home.html", "index.html", "index.shtml", "index.htm", "index.cgi", "wwwhome.html",
		"welcome.html"},
	FoldIndex: true, Autoindex: AutoindexList, Base: BaseDocumentOrder, SlashOptional: true,
}

// Profiles returns the built-in profiles, sorted by name.
func Profiles() []Profile { return []Profile{Generic, Linklint} }

// ProfileByName returns the built-in profile of that name.
func ProfileByName(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

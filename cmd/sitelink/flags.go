package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/docs"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// keyFlag is the flag of a configuration key. It only collects texts; package
// config validates them, like those of the file and of variables.
type keyFlag struct {
	key    config.Key
	values []string
}

func (f *keyFlag) String() string { return strings.Join(f.values, ",") }

func (f *keyFlag) Set(text string) error {
	if !f.key.Repeats() {
		f.values = f.values[:0]
	}
	f.values = append(f.values, text)
	return nil
}

// Type returns the name of the value for the help.
func (f *keyFlag) Type() string {
	switch f.key.Kind {
	case config.Bool:
		return "bool" // for which pflag shows no name
	case config.Switch:
		return ""
	}
	return f.key.Arg
}

// addKeyFlags adds a flag for each key to cmd, in the order of the manual,
// except for keys that have no meaning for it.
func addKeyFlags(cmd *cobra.Command, without ...string) {
	addFlags(cmd, slices.DeleteFunc(config.Keys(), func(k config.Key) bool { return slices.Contains(without, k.Name) }))
}

// addOnlyKeyFlags adds the flags of these keys to cmd.
func addOnlyKeyFlags(cmd *cobra.Command, names ...string) {
	addFlags(cmd, slices.DeleteFunc(config.Keys(), func(k config.Key) bool { return !slices.Contains(names, k.Name) }))
}

// addSiteKeyFlags adds the flags of the keys that describe the site, and of
// further keys. A flag that cmd has already keeps its meaning.
func addSiteKeyFlags(cmd *cobra.Command, further ...string) {
	further = append(further, "jobs", "progress")
	addFlags(cmd, slices.DeleteFunc(config.Keys(), func(k config.Key) bool {
		return k.Table != "" && !slices.Contains(further, k.Name) || k.Kind == config.Rules || cmd.Flags().Lookup(k.Name) != nil
	}))
}

// addConfigFlag adds the flag that names the configuration file.
func addConfigFlag(cmd *cobra.Command) {
	cmd.Flags().String("config", "", "read `FILE` instead of searching for sitelink.toml")
}

// completeFlags sets what all commands below cmd have in common: flags are listed in
// the order in which they were added, and DIR is completed.
func completeFlags(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	if strings.Contains(cmd.Use, "[DIR") && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	}
	for _, c := range cmd.Commands() {
		completeFlags(c)
	}
}

// tableKeys returns the keys that cmd has flags for, except keys of the site and of
// [check].
func tableKeys(cmd *cobra.Command) (keys []config.Key) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if kf, ok := f.Value.(*keyFlag); ok && kf.key.ID() != kf.key.Name {
			keys = append(keys, kf.key)
		}
	})
	return keys
}

func addFlags(cmd *cobra.Command, keys []config.Key) {
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, k := range keys {
		help := k.Help
		if k.Repeats() {
			help += "; repeatable"
		}
		f := flags.VarPF(&keyFlag{key: k}, k.Name, "", help)
		f.Hidden = k.Rare
		if k.Default != "none" && k.Default != "-" {
			f.DefValue = k.Default
		}
		switch k.Kind {
		case config.Bool, config.Switch:
			f.NoOptDefVal = "true"
		}
	}
}

// keySettings returns the keys that the user set by a flag.
func keySettings(cmd *cobra.Command) []config.Setting {
	var settings []config.Setting
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if kf, ok := f.Value.(*keyFlag); ok {
			settings = append(settings, config.Setting{Key: kf.key.ID(), Values: kf.values})
		}
	})
	return settings
}

// flagError turns an error of the flag parser into a usage error that suggests
// the nearest flag of the command.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing):
		return text.Usage(fmt.Sprintf("--%s needs a value", missing.GetFlag().Name), cmd.CommandPath()+" --help describes it")
	case errors.As(err, &invalid):
		flag, value, wants, hint := invalid.GetFlag(), invalid.GetValue(), "", ""
		switch flag.Value.Type() {
		case "duration":
			wants = "a time such as 500ms or 90s"
		case "int":
			wants = "a whole number"
		case "bool":
			wants = "true or false"
		}
		if f, ok := flag.Value.(*wordFlag); ok {
			wants, hint = config.OneOf(f.words), config.DidYouMean(value, f.words)
		}
		if wants == "" {
			return text.Usage(fmt.Sprintf("--%s: %v", flag.Name, errors.Unwrap(invalid)), "")
		}
		return text.Usage(fmt.Sprintf("--%s: must be %s, not %q", flag.Name, wants, value), hint)
	case !errors.As(err, &unknown):
		return text.Usage(err.Error(), helpHint(cmd))
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		return text.Usage("unknown flag -"+name, helpHint(cmd))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, key := f.Value.(*keyFlag); key || !f.Hidden {
			names = append(names, f.Name)
		}
	})
	var others []string // commands that have the flag
	for _, other := range cmd.Root().Commands() {
		if f := other.Flags().Lookup(name); f != nil && !f.Hidden {
			others = append(others, other.CommandPath())
		}
	}
	hint := helpHint(cmd)
	if off := cmd.Flags().Lookup(strings.TrimPrefix(name, "no-")); off != nil && off.NoOptDefVal == "true" {
		hint = fmt.Sprintf("write --%s=false", off.Name)
	} else if at := slices.IndexFunc(docs.Options(), func(o docs.Option) bool { return slices.Contains(o.Names, strings.ReplaceAll(name, "_", "-")) }); at >= 0 {
		o := docs.Options()[at]
		hint = fmt.Sprintf("coming from %s? %s Example: %s", o.Checker, o.Ours, o.Example)
	} else if name == "dry-run" && cmd.Flags().Lookup("write") != nil {
		hint = "without --write, it only shows what it would change"
	} else if len(others) > 0 {
		hint = fmt.Sprintf("it is a flag of %s", strings.Join(others, ", "))
	} else if near, ok := config.Nearest(name, names); ok {
		hint = fmt.Sprintf("did you mean --%s?", near)
	}
	return text.Usage("unknown flag --"+name, hint)
}

func helpHint(cmd *cobra.Command) string { return cmd.CommandPath() + " --help lists the flags" }

// wordFlag is the value of a flag that accepts a few words.
type wordFlag struct {
	value *string
	words []string
}

func (f *wordFlag) String() string { return *f.value }
func (f *wordFlag) Type() string   { return "string" }

// Set accepts a word; [flagError] turns its error into a message.
func (f *wordFlag) Set(text string) error {
	if !slices.Contains(f.words, text) {
		return errors.New("unknown word")
	}
	*f.value = text
	return nil
}

// addWordFlag adds a flag that accepts a few words. The first word is the default.
func addWordFlag(cmd *cobra.Command, value *string, name, usage string, words ...string) {
	*value = words[0]
	cmd.Flags().Var(&wordFlag{value, words}, name, usage)
}

// wordsAnnotation is the annotation of a flag with the words that it accepts.
const wordsAnnotation = "words"

// completeValues sets how a shell completes the values of the flags of cmd and of all
// commands below it. cobra keeps these functions, and with them the commands, until the
// process ends, so only a completion sets them.
func completeValues(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		var words []string
		files := cobra.ShellCompDirectiveNoFileComp
		switch v := f.Value.(type) {
		case *wordFlag:
			words = v.words
		case *keyFlag:
			switch {
			case v.key.Name == "profile":
				words = profileNames()
			case v.key.Kind == config.Directory:
				files = cobra.ShellCompDirectiveFilterDirs
			case v.key.Kind == config.Path:
				files = cobra.ShellCompDirectiveDefault
			case v.key.Kind == config.Bool:
				words = []string{"true", "false"}
			default:
				words = v.key.Values
			}
		default:
			if words = f.Annotations[wordsAnnotation]; words == nil {
				return
			}
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, files)); err != nil {
			panic(err) // the flag is one of cmd
		}
	})
	for _, c := range cmd.Commands() {
		completeValues(c)
	}
}

func profileNames() []string {
	var names []string
	for _, k := range host.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// argumentFiles holds the contents of argument files. An argument @FILE names a
// file that contains one linkset per line, and flags on lines that begin with a
// dash (LL-13).
type argumentFiles struct {
	settings []config.Setting
	places   map[string]string // of the settings, by key
	open     []string          // the files that are being read, outermost first
	bytes    int64
}

const (
	// maxArgumentDepth limits how deep argument files may be nested.
	maxArgumentDepth = 16
	// maxArgumentBytes limits their total size; many are lists of pages.
	maxArgumentBytes = 64 << 20
	// maxArgumentLine is the longest line: a path has at most 4 KiB.
	maxArgumentLine = 64 << 10
)

// splitArguments returns the arguments that are not argument files, and the
// contents of those that are. Names of files are relative to the working
// directory, as in other flags.
func splitArguments(args []string) (rest []string, files *argumentFiles, err error) {
	files = &argumentFiles{places: map[string]string{}}
	for _, arg := range args {
		name, isFile := strings.CutPrefix(arg, "@")
		if !isFile {
			rest = append(rest, arg)
			continue
		}
		if err := files.read(name, ""); err != nil {
			return nil, nil, err
		}
	}
	return rest, files, nil
}

// cutLists returns the arguments that are not lists of addresses, and the names of
// those that are: @@FILE.
func cutLists(args []string) (rest, lists []string) {
	for _, arg := range args {
		if name, ok := strings.CutPrefix(arg, "@@"); ok {
			lists = append(lists, name)
		} else {
			rest = append(rest, arg)
		}
	}
	return rest, lists
}

// eachEntry calls f with the entries of a list, one per line, and the number of the line. Empty
// lines and lines that begin with # are comments. The name "-" is standard input.
func eachEntry(name string, stdin io.Reader, f func(n int, line, entry string) error) error {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return text.Usage(fmt.Sprintf("read list %s: %v", name, system.Cause(err)), "")
		}
		defer file.Close()
		stdin = file
	}
	lines := bufio.NewScanner(stdin)
	lines.Buffer(nil, maxArgumentLine)
	n, size := 0, 0
	for lines.Scan() {
		n++
		if size += len(lines.Bytes()) + 1; size > maxArgumentBytes {
			return text.Usage(fmt.Sprintf("%s:%d: the list is larger than %d MiB", name, n, maxArgumentBytes>>20), "split it")
		}
		line := strings.TrimPrefix(lines.Text(), "\uFEFF")
		if entry := strings.TrimSpace(line); entry != "" && entry[0] != '#' {
			if err := f(n, line, entry); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return text.Usage(fmt.Sprintf("%s:%d: %v", name, n+1, err), "")
	}
	return nil
}

// readList adds the addresses of a list.
func readList(all []listLine, name string, stdin io.Reader) ([]listLine, error) {
	if name == "" {
		return nil, text.Usage("the name of a file is missing after @@", "@@/dev/stdin reads standard input")
	}
	page := filepath.ToSlash(name)
	err := eachEntry(name, stdin, func(n int, line, raw string) error {
		u, err := weburl.Parse(raw)
		if err != nil || u.Scheme() != "http" && u.Scheme() != "https" || u.HasCredentials() {
			return text.Usage(fmt.Sprintf("%s:%d: %q is not an address that begins with http:// or https://", name, n, line), "write one address on each line")
		}
		all = append(all, listLine{raw, &page, int32(n), int32(1 + utf8.RuneCountInString(line[:strings.Index(line, raw)]))})
		return nil
	})
	return all, err
}

// addFilesFrom adds the flag that names a list.
func addFilesFrom(cmd *cobra.Command, to *string, of string) {
	cmd.Flags().StringVar(to, "files-from", "", "read the "+of+" to check from `FILE`, one on each line; - is standard input")
}

// listLine is a line of a list. There may be a million.
type listLine struct {
	raw          string
	page         *string // the file
	line, column int32
}

// linksOf returns the links of the lines, in the same memory.
func linksOf(all []listLine) iter.Seq[*check.Link] {
	return func(yield func(*check.Link) bool) {
		for _, l := range all {
			u, _ := weburl.Parse(l.raw) // readList refuses others
			target := u.WithoutFragment()
			if strings.HasPrefix(l.raw, target) {
				target = l.raw[:len(target)] // the same memory
			}
			if !yield(&check.Link{Page: *l.page, Line: int(l.line), Column: int(l.column), Raw: l.raw, Target: target, Verdict: check.Unchecked, Code: check.External}) {
				return
			}
		}
	}
}

// read reads one argument file. from is the place that names it, "" for the
// command line.
func (f *argumentFiles) read(name, from string) error {
	prefix := ""
	if from != "" {
		prefix = from + ": "
	}
	switch {
	case name == "":
		return text.Usage(prefix+"the name of a file is missing after @", "@/dev/stdin reads standard input")
	case name[0] == '@':
		return text.Usage(prefix+"@"+name+": a list of addresses of other sites cannot be combined with a site", "ask for it with sitelink external @"+name)
	case slices.Contains(f.open, filepath.Clean(name)):
		return text.Usage(fmt.Sprintf("%sthe argument file %s includes itself", prefix, name), "")
	case len(f.open) == maxArgumentDepth:
		return text.Usage(fmt.Sprintf("%sargument files are nested deeper than %d levels", prefix, maxArgumentDepth), "")
	}
	file, err := os.Open(name)
	if err != nil {
		hint := ""
		if info, statErr := os.Stat("@" + name); statErr == nil && info.IsDir() {
			hint = fmt.Sprintf("write ./@%s to name the directory", name)
		}
		return text.Usage(fmt.Sprintf("%sread argument file %s: %v", prefix, name, system.Cause(err)), hint)
	}
	defer file.Close()
	f.open = append(f.open, filepath.Clean(name))
	defer func() { f.open = f.open[:len(f.open)-1] }()

	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxArgumentLine)
	n := 0
	for lines.Scan() {
		n++
		if f.bytes += int64(len(lines.Bytes())) + 1; f.bytes > maxArgumentBytes {
			return text.Usage(fmt.Sprintf("%s:%d: the argument files are larger than %d MiB together", name, n, maxArgumentBytes>>20), "")
		}
		text := lines.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\uFEFF")
		}
		if err := f.line(strings.TrimSpace(text), fmt.Sprintf("%s:%d", name, n)); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line is longer than %d KiB", maxArgumentLine>>10)
		}
		return text.Usage(fmt.Sprintf("%s:%d: %v", name, n+1, err), "")
	}
	return nil
}

// line processes one line: nothing, a comment, flags, another file or a linkset.
func (f *argumentFiles) line(entry, place string) error {
	switch {
	case entry == "", entry[0] == '#':
		return nil
	case entry[0] == '-':
		return f.flags(entry, place)
	case entry[0] == '@':
		return f.read(entry[1:], place)
	}
	if _, err := check.ParseLinkset(entry); err != nil {
		return text.Usage(place+": "+err.Error(), "")
	}
	f.add(config.Setting{Key: "from", Values: []string{entry}}, place, true)
	return nil
}

// flags processes a line of flags. A flag that repeats may have several values:
// --index a.html b.html.
func (f *argumentFiles) flags(entry, place string) error {
	words, err := splitWords(entry)
	if err != nil {
		return text.Usage(place+": "+err.Error(), "")
	}
	repeats, given := false, ""
	var args []string
	for _, w := range words {
		switch {
		case strings.HasPrefix(w, "-"):
			name, _, hasValue := strings.Cut(strings.TrimLeft(w, "-"), "=")
			k, _ := config.Lookup(name)
			repeats, given = k.Repeats() && hasValue, w[:strings.Index(w, name)]+name
		case repeats:
			args = append(args, given)
		default:
			k, _ := config.Lookup(strings.TrimLeft(given, "-"))
			repeats = k.Repeats()
		}
		args = append(args, w)
	}
	cmd := &cobra.Command{Use: "check"}
	addKeyFlags(cmd)
	cmd.Flags().Usage = func() {}
	switch err := cmd.Flags().Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return text.Usage(place+": an argument file cannot contain --help", "")
	case err != nil:
		return atPlace(flagError(cmd, err), place)
	}
	if rest := cmd.Flags().Args(); len(rest) > 0 {
		return text.Usage(fmt.Sprintf("%s: unexpected argument %q", place, rest[0]), "write each linkset on a line of its own")
	}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		kf := flag.Value.(*keyFlag)
		f.add(config.Setting{Key: flag.Name, Values: kf.values}, place+": --"+flag.Name, kf.key.Repeats())
	})
	return nil
}

// atPlace adds the place of a line to a usage error.
func atPlace(err error, place string) error {
	var usage *text.UsageError
	if errors.As(err, &usage) {
		hint := usage.Hint
		if name, ok := strings.CutPrefix(usage.Msg, "unknown flag -"); ok && !strings.HasPrefix(name, "-") {
			hint = "flags begin with two dashes, as in --skip"
		}
		return text.Usage(place+": "+usage.Msg, hint)
	}
	return err
}

// add adds to the values of a key that repeats, and replaces the value of any
// other key.
func (f *argumentFiles) add(s config.Setting, place string, repeats bool) {
	i := slices.IndexFunc(f.settings, func(o config.Setting) bool { return o.Key == s.Key })
	switch {
	case i < 0:
		f.settings = append(f.settings, s)
		f.places[s.Key] = place
	case repeats:
		f.settings[i].Values = append(f.settings[i].Values, s.Values...)
		delete(f.places, s.Key) // it has many
	default:
		f.settings[i] = s
		f.places[s.Key] = place
	}
}

// join returns the settings of the files, overridden by the flags of the command
// line. Values of lists are added after those of the files.
func (f *argumentFiles) join(flags []config.Setting) []config.Setting {
	for _, s := range flags {
		k, _ := config.Lookup(s.Key)
		f.add(s, "", k.Repeats())
		delete(f.places, s.Key)
	}
	return f.settings
}

// splitWords splits a line at white space outside double or single quotes, and
// removes the quotes.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case c == ' ' || c == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

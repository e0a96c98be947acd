package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/host"
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

func addFlags(cmd *cobra.Command, keys []config.Key) {
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, k := range keys {
		help := k.Help
		if k.Repeats() {
			help += "; repeatable"
		}
		f := flags.VarPF(&keyFlag{key: k}, k.Name, "", help)
		if k.Default != "none" && k.Default != "-" {
			f.DefValue = k.Default
		}
		switch k.Kind {
		case config.Bool, config.Switch:
			f.NoOptDefVal = "true"
		}
		var words []string
		files := cobra.ShellCompDirectiveNoFileComp
		switch {
		case k.Name == "profile":
			words = profileNames()
		case k.Kind == config.Directory:
			files = cobra.ShellCompDirectiveFilterDirs
		case k.Kind == config.Path:
			files = cobra.ShellCompDirectiveDefault
		case k.Kind == config.Bool:
			words = []string{"true", "false"}
		default:
			words = k.Values
		}
		if err := cmd.RegisterFlagCompletionFunc(k.Name, cobra.FixedCompletions(words, files)); err != nil {
			panic(err) // the flag was defined above
		}
	}
}

// keySettings returns the keys whose flags the user gave.
func keySettings(cmd *cobra.Command) []config.Setting {
	var settings []config.Setting
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if kf, ok := f.Value.(*keyFlag); ok {
			settings = append(settings, config.Setting{Key: f.Name, Values: kf.values})
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
		return fault.Usage(fmt.Sprintf("--%s needs a value", missing.GetFlag().Name), cmd.CommandPath()+" --help describes it")
	case errors.As(err, &invalid):
		return invalidValue(invalid)
	case !errors.As(err, &unknown):
		return fault.Usage(err.Error(), helpHint(cmd))
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		return fault.Usage("unknown flag -"+name, helpHint(cmd))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	hint := helpHint(cmd)
	if off, ok := strings.CutPrefix(name, "no-"); ok && cmd.Flags().Lookup(off) != nil {
		hint = fmt.Sprintf("write --%s=false", off)
	} else if near, ok := config.Nearest(name, names); ok {
		hint = fmt.Sprintf("did you mean --%s?", near)
	}
	return fault.Usage("unknown flag --"+name, hint)
}

// invalidValue describes a value that the flag parser refused.
func invalidValue(err *pflag.InvalidValueError) error {
	flag, value, wants, hint := err.GetFlag(), err.GetValue(), "", ""
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
		return fault.Usage(fmt.Sprintf("--%s: %v", flag.Name, errors.Unwrap(err)), "")
	}
	return fault.Usage(fmt.Sprintf("--%s: must be %s, not %q", flag.Name, wants, value), hint)
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

// addWordFlag adds a flag that accepts a few words, with their completion. The first
// word is the default.
func addWordFlag(cmd *cobra.Command, value *string, name, usage string, words ...string) {
	*value = words[0]
	cmd.Flags().Var(&wordFlag{value, words}, name, usage)
	completeWords(cmd, name, words)
}

// completeWords completes the values of a flag that was defined.
func completeWords(cmd *cobra.Command, name string, words []string) {
	if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was not defined
	}
}

// findingCodes are the codes of findings, which ignore rules can name. A test
// compares the list with the constants of package check.
var findingCodes = []check.Code{
	check.MissingFile, check.MissingDirectory, check.MissingIndex, check.MissingFragment, check.MissingMap,
	check.WrongCase, check.OutsideDocroot, check.BrokenSymlink, check.Unreadable, check.SpecialFile,
	check.BadURL, check.EmptyLink, check.UnclosedComment, check.UnclosedElement, check.UnclosedTag, check.NotWellFormed,
	check.BaseDiffers, check.Credentials, check.Backslash, check.DoubleSlash, check.Autoindex,
	check.ScriptFragment, check.MappingLoop, check.TooLarge, check.ReadError, check.BadMapFile,
	check.ServerDependent, check.Changed, check.Fallback, check.ViaRedirect, check.EndlessRedirect, check.UnresolvedRef,
	check.RedirectSyntax, check.RedirectLimit, check.RedirectUnjudged, check.RedirectMissing, check.RedirectLoop,
	check.RedirectChain, check.RedirectHidden, check.RedirectShadowed,
	check.Orphan, check.Unreachable, check.UnmatchedLinkset, check.LimitReached,
	check.EndpointMissing, check.EndpointUnwanted, check.EndpointAddress, check.EndpointRelative, check.EndpointForm, check.EndpointUnquoted,
	check.EndpointTwice, check.EndpointSecondMatch, check.EndpointBody, check.EndpointLate, check.EndpointHeader, check.EndpointInvalidPage,
	check.SitemapEntry, check.FeedEntry, check.FeedRelative, check.NoIndexInSitemap, check.SitemapLimit,
}

func codeNames() []string {
	names := make([]string, len(findingCodes))
	for i, c := range findingCodes {
		names[i] = string(c)
	}
	return names
}

func profileNames() []string {
	var names []string
	for _, p := range host.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

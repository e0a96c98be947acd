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
	"github.com/sitelink/sitelink/internal/site"
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
		complete := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveNoFileComp)
		switch {
		case k.Name == "docroot" || k.Name == "baseline-docroot":
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		case k.Name == "profile":
			complete = cobra.FixedCompletions(profileNames(), cobra.ShellCompDirectiveNoFileComp)
		case k.Kind == config.Path:
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
		case k.Kind == config.Bool:
			complete = cobra.FixedCompletions([]string{"true", "false"}, cobra.ShellCompDirectiveNoFileComp)
		case len(k.Values) > 0:
			complete = cobra.FixedCompletions(k.Values, cobra.ShellCompDirectiveNoFileComp)
		}
		if err := cmd.RegisterFlagCompletionFunc(k.Name, complete); err != nil {
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
	if !errors.As(err, &unknown) {
		return fault.Usage(err.Error(), "")
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

func helpHint(cmd *cobra.Command) string { return cmd.CommandPath() + " --help lists the flags" }

// oneOfWords refuses the value of a flag if it is not one of the words.
func oneOfWords(flag, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return fault.Usage(fmt.Sprintf("--%s: must be %s, not %q", flag, config.OneOf(words), value), config.DidYouMean(value, words))
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
	check.SitemapEntry, check.FeedEntry, check.NoIndexInSitemap, check.SitemapLimit,
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
	for _, p := range site.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

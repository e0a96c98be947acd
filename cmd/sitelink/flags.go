package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sitelink/sitelink/internal/config"
)

// keyFlag is the flag of a configuration key. It only collects texts: what
// they mean, and whether they are right, is for config, which knows the same
// of files and variables.
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

// Type is the name of the value in the help.
func (f *keyFlag) Type() string {
	switch f.key.Kind {
	case config.Bool:
		return "bool" // pflag then shows no name
	case config.Switch:
		return ""
	}
	return f.key.Arg
}

// addKeyFlags gives cmd a flag for each key, in the order of the manual, but
// for those that mean nothing to it.
func addKeyFlags(cmd *cobra.Command, without ...string) {
	addFlags(cmd, slices.DeleteFunc(config.Keys(), func(k config.Key) bool { return slices.Contains(without, k.Name) }))
}

// addOnlyKeyFlags gives cmd the flags of these keys.
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

// keySettings returns the keys whose flags were given.
func keySettings(cmd *cobra.Command) []config.Setting {
	var settings []config.Setting
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if kf, ok := f.Value.(*keyFlag); ok {
			settings = append(settings, config.Setting{Key: f.Name, Values: kf.values})
		}
	})
	return settings
}

// flagError turns an error of the flag parser into one of ours, with the
// nearest flag of the command.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return &usageError{err.Error(), ""}
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		return &usageError{"unknown flag -" + name, helpHint(cmd)}
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
	return &usageError{"unknown flag --" + name, hint}
}

func helpHint(cmd *cobra.Command) string { return cmd.CommandPath() + " --help lists the flags" }

// Package githook makes git check a site's links before a push, and checks what
// is pushed.
//
// [Open] finds a repository. [Repo.Install] sets up its pre-push hook,
// [Repo.Status] reports what is set up, and [Repo.Uninstall] restores what was
// there before:
//
//	repo, err := githook.Open(ctx, githook.Git{Env: os.Environ(), Dir: "."})
//	...
//	status, err := repo.Install(ctx, githook.InstallOptions{Program: "/usr/local/bin/sitelink"})
//
// The hook runs `sitelink hook run pre-push`, which reads the refs of the push
// with [ReadRefs], resolves them with [OpenPush] and checks them with
// [Repo.CheckPush]. A program that has a hook of its own does the same, and says
// with [Push] how a commit becomes a site and how a site is checked.
//
// CheckPush checks the commits, not the files that happen to be in the working
// tree: it checks out a commit into a temporary working tree unless the working
// tree is exactly what is pushed. Trees that passed are remembered, so that
// pushing them again costs one run of git. So is what was found in others, so that
// a push is compared with the commit of the remote without building that again.
//
// The package runs git 2.31 or newer, and the site's build command in a shell.
// It writes to git's directory only, reads no environment variable and prints
// nothing.
package githook

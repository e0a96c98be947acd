//! Starts sitelink's language server in Zed.

use zed_extension_api::{self as zed, settings::LspSettings, LanguageServerId, Result, Worktree};

struct Sitelink;

impl zed::Extension for Sitelink {
    fn new() -> Self {
        Sitelink
    }

    /// The program on the PATH of the project, with its environment.
    fn language_server_command(&mut self, _id: &LanguageServerId, worktree: &Worktree) -> Result<zed::Command> {
        let command = worktree
            .which("sitelink")
            .ok_or_else(|| "sitelink is not on the PATH: install it, see https://github.com/sitelink/sitelink".to_string())?;
        Ok(zed::Command { command, args: vec!["lsp".into()], env: worktree.shell_env() })
    }

    /// What "lsp": {"sitelink": {"initialization_options": {"build": true}}} in the
    /// settings of Zed says.
    fn language_server_initialization_options(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<zed::serde_json::Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.initialization_options)
    }
}

zed::register_extension!(Sitelink);

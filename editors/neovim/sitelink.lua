-- Starts sitelink's language server in projects with links. For Neovim 0.11 or
-- later; copy it to ~/.config/nvim/plugin/.
vim.lsp.config("sitelink", {
  cmd = { "sitelink", "lsp" },
  filetypes = { "markdown", "html", "toml", "yaml", "json", "css" },
  root_markers = { "sitelink.toml", "hugo.toml", "hugo.yaml", "config.toml", "_config.yml", ".git" },
  -- To build the site after each save, in projects that you trust:
  -- init_options = { build = true },
})
vim.lsp.enable("sitelink")

-- What the count of links above a heading does.
vim.lsp.commands["sitelink.showReferences"] = function()
  vim.lsp.buf.references()
end

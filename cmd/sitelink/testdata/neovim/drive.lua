-- Drives sitelink lsp in Neovim without a screen: nvim --headless -u NONE -l or -S drive.lua.
-- SITELINK_DRIVE names a Lua file with the steps, which gets the functions below. What the
-- steps find out is written to the file SITELINK_RESULT as JSON.
local M = { result = {} }
local limit = 120000
vim.o.swapfile = false
vim.o.shada = ""

local function wait(what, ready)
  if not vim.wait(limit, ready, 20) then
    error("timeout: " .. what)
  end
end

function M.start(root, settings)
  M.id = vim.lsp.start_client({
    name = "sitelink",
    cmd = vim.list_extend({ vim.env.SITELINK_BINARY, "lsp" }, settings.arguments or {}),
    cmd_env = {},
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
    init_options = settings.options,
    capabilities = vim.lsp.protocol.make_client_capabilities(),
  })
  assert(M.id, "the server did not start")
end

function M.open(name)
  vim.cmd("edit " .. vim.fn.fnameescape(name))
  vim.lsp.buf_attach_client(0, M.id)
  wait("attach", function()
    local client = vim.lsp.get_client_by_id(M.id)
    return client and client.initialized
  end)
  return vim.api.nvim_get_current_buf()
end

-- ask sends a request about the place of a text in the current buffer, shift bytes after its
-- start, until the answer satisfies ready: the server may be reading the site.
function M.ask(method, needle, shift, extra, ready)
  local answer
  wait(method .. " at " .. needle, function()
    local line, column
    for i, text in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
      local at = text:find(needle, 1, true)
      if at then
        line, column = i - 1, at - 1 + shift
        break
      end
    end
    assert(line, "no text " .. needle)
    vim.api.nvim_win_set_cursor(0, { line + 1, column })
    local params = vim.tbl_extend("force", vim.lsp.util.make_position_params(0, "utf-16"), extra or {})
    local all = vim.lsp.buf_request_sync(0, method, params, 10000)
    if not all or not all[M.id] then
      return false
    end
    if all[M.id].err then
      error(method .. ": " .. vim.inspect(all[M.id].err))
    end
    answer = all[M.id].result
    return ready(answer)
  end)
  return answer
end

function M.diagnostics(ready)
  local all
  wait("diagnostics", function()
    all = vim.diagnostic.get(0)
    return ready(all)
  end)
  local list = {}
  for _, d in ipairs(all) do
    table.insert(list, { line = d.lnum, from = d.col, to = d.end_col, severity = d.severity, code = d.code, message = d.message,
      text = vim.api.nvim_buf_get_text(0, d.lnum, d.col, d.end_lnum, d.end_col, {})[1] })
  end
  return list
end

function M.replace(old, new)
  for i, text in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local at = text:find(old, 1, true)
    if at then
      vim.api.nvim_buf_set_text(0, i - 1, at - 1, i - 1, at - 1 + #old, { new })
      return
    end
  end
  error("no text " .. old)
end

function M.append(line)
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { line })
end

function M.text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

function M.apply(edit)
  vim.lsp.util.apply_workspace_edit(edit, "utf-16")
end

-- request sends a request that is about no place in the text.
function M.request(method, params)
  local all = vim.lsp.buf_request_sync(0, method, params, limit)
  local answer = assert(all and all[M.id], method .. ": no answer")
  assert(not answer.err, vim.inspect(answer.err))
  return answer.result
end

function M.read(name)
  local file = io.open(name)
  if not file then
    return ""
  end
  local text = file:read("*a")
  file:close()
  return text
end

function M.wait_file(name, needle)
  wait(needle .. " in " .. name, function()
    return M.read(name):find(needle, 1, true) ~= nil
  end)
end

local ok, err = xpcall(function()
  dofile(vim.env.SITELINK_DRIVE)(M)
end, debug.traceback)
if not ok then
  M.result.error = tostring(err)
end
local file = assert(io.open(vim.env.SITELINK_RESULT, "w"))
file:write(vim.json and vim.json.encode(M.result) or vim.fn.json_encode(M.result))
file:close()
vim.lsp.stop_client(vim.lsp.get_active_clients(), true)
vim.cmd("qall!")
